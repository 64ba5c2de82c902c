"""A folder that is not a project because a file misspells the library of its server: `from mpcc import Server`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.suggestions import nearest
from mcpc.frontends.fastmcp.imports import imported_modules
from mcpc.languages import imports
from mcpc.packages import NEAR, OWN_MODULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Source, SourceTree

MODULES = (*OWN_MODULES, "mcp.server", "mcp.server.fastmcp", "mcp.server.lowlevel", "mcp.server.mcpserver")
OWNERS = {"FastMCP": "fastmcp", "MCPServer": "mcp.server.mcpserver", "Server": "mcpc"}
"""The library of a name that is imported from a misspelt one."""
SIMILAR = 0.6
"""How similar the misspelt module must be if the name that is imported from it is known."""


def misspelt_library(tree: SourceTree) -> Diagnostic | None:
    """Return the first import of a misspelt library in the project, None if there is none."""
    own = {path.rpartition("/")[2].removesuffix(".py") for path in tree.files}
    for path in sorted(tree.files, key=lambda path: (path.count("/"), path)):
        source = tree.files[path]
        if not path.endswith(".py"):
            continue
        for written, meant in misspelt_modules(source):
            top = written.partition(".")[0]
            if top not in own:
                span = next((span for name, span in imports(source) if name == top), Span(path))
                message = f"no project found here: `{path}` imports `{written}`"
                return diagnose("MCP009", span, message, "", f"did you mean `{meant}`?")
    return None


def misspelt_modules(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the modules that a file imports and that look like a library of servers, each with that."""
    found = sorted(imported_modules(source))
    modules = [name for name in found if not any(name.startswith(f"{other}.") for other in found)]
    for name in modules:
        imported = [other.removeprefix(f"{name}.") for other in found if other.startswith(f"{name}.")]
        owner = next((OWNERS[each] for each in imported if each in OWNERS), "")
        is_similar = owner and nearest(name.lower(), OWN_MODULES, SIMILAR)
        meant = owner if is_similar else nearest(name.lower(), MODULES, NEAR)
        if meant and name not in MODULES:
            yield name, meant
