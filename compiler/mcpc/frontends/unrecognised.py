"""A folder that no format recognises: what is there, and what is nearest to a project, by a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import nearest, quoted
from mcpc.frontends.fastmcp.imports import imported_modules
from mcpc.frontends.project_metadata import is_registry_manifest
from mcpc.languages import imports
from mcpc.packages import NEAR, OWN_MODULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Source, SourceTree

DEFINITIONS = (
    *("server.json", "tools.json", "prompts.json", "resources.json", "completions.json", "servers.json"),
    *("fastmcp.json", "boxlang.json", "tools.bash", "prompts.bash", "resources.bash"),
)
"""Names of files by which formats are recognised, as far as another name is likely to be one of them misspelt."""
SIMILARITY = 0.85
MAX_SHOWN = 3
BEGIN = "`mcpc new` creates a project"
SHEBANG = re.compile(rb"#!.*\b(?:sh|bash|zsh|dash|ksh)\b")
DESCRIBE_PROGRAM = (
    'describe each tool in `tools.json` with `"_meta": {"mcpc/handler": {"command": "PROGRAM"}}`: a program of the '
    "project handles its calls"
)


class Sign(NamedTuple):
    """A kind of files: whether it `fits` a file, what one and several are called, what is wrong, what to do."""

    fits: Callable[[str, Source], bool]
    kind: str
    kinds: str
    problem: str
    hint: str


def _ends(*suffixes: str) -> Callable[[str, Source], bool]:
    return lambda path, _: path.endswith(suffixes)


def _named(*names: str) -> Callable[[str, Source], bool]:
    return lambda path, _: path in names


SIGNS = (
    Sign(
        lambda path, source: path == "server.json" and is_registry_manifest(source),
        "the manifest of a registry",
        "manifests of a registry",
        "which says where a server is published, not what it offers",
        "name the folder that has the server's own files",
    ),
    Sign(
        lambda path, source: path.endswith((".sh", ".bash")) or SHEBANG.match(source.data) is not None,
        "a shell script",
        "shell scripts",
        "and nothing says which tools there are",
        "describe each tool in `tools.json`, and call the script in a function `tool_NAME` of `tools.bash`; "
        "`mcpc new PROJECT --template bash` writes an example",
    ),
    Sign(
        _ends(".py"),
        "a Python file",
        "Python files",
        "and no function is a tool",
        'write `from mcpc import Server`, `mcp = Server("NAME")`, and `@mcp.tool` above a function, in `server.py`; '
        "`mcpc new PROJECT --template python` writes an example",
    ),
    Sign(
        _named("package.json", "tsconfig.json", "deno.json"),
        "a file of a Node project",
        "files of a Node project",
        "whose server no format reads",
        DESCRIBE_PROGRAM,
    ),
    Sign(
        _named("go.mod", "Cargo.toml", "pom.xml", "build.gradle", "Gemfile", "composer.json"),
        "a file of a project in another language",
        "files of a project in another language",
        "and nothing says which tools there are",
        DESCRIBE_PROGRAM,
    ),
)
"""In this order: the first sign that files have is reported."""


def unrecognised(tree: SourceTree, below: Sequence[str]) -> Diagnostic:
    """Return what a folder has that is not a project; `below`: subfolders that are projects, quoted."""
    paths = sorted(tree.files, key=lambda path: (path.count("/"), path))
    message = "no project found here"
    if below:
        return diagnose("MCP009", None, message, "", f"projects in subfolders: {', '.join(below)}; name one of them")
    if not paths:
        return diagnose("MCP009", None, f"{message}: the folder is empty", "", BEGIN)
    for path in paths:
        meant = nearest(path, DEFINITIONS, SIMILARITY) if path not in DEFINITIONS else ""
        if meant:
            hint = f"did you mean `{meant}`?"
            return diagnose("MCP009", Span(path), f"{message}: no format has a file `{path}`", "", hint)
    for sign in SIGNS:
        fit = [path for path in paths if sign.fits(path, tree.files[path])]
        if fit:
            kind = f"is {sign.kind}" if len(fit) == 1 else f"are {sign.kinds}"
            return diagnose("MCP009", None, f"{message}: {_some(fit)} {kind}, {sign.problem}", "", sign.hint)
    return diagnose("MCP009", None, f"{message}: the folder has only {_some(paths)}", "", BEGIN)


def _some(paths: Sequence[str]) -> str:
    """Return the first paths, and how many there are beside them."""
    more = len(paths) - MAX_SHOWN
    return quoted(paths[:MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")


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
            # A module of the project may have such a name.
            if top not in own:
                span = next((span for name, span in imports(source) if name == top), Span(path))
                message = f"no project found here: `{path}` imports `{written}`"
                return diagnose("MCP009", span, message, "", f"did you mean `{meant}`?")
    return None


def misspelt_modules(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the modules that a file imports and that look like a library of servers, each with that."""
    names = sorted(imported_modules(source))
    # `imported_modules` also yields each imported name, as `module.name`.
    modules = [name for name in names if not any(name.startswith(f"{other}.") for other in names)]
    for name in modules:
        imported = [other.removeprefix(f"{name}.") for other in names if other.startswith(f"{name}.")]
        owner = next((OWNERS[each] for each in imported if each in OWNERS), "")
        is_similar = owner and nearest(name.lower(), OWN_MODULES, SIMILAR)
        meant = owner if is_similar else nearest(name.lower(), MODULES, NEAR)
        if meant and name not in MODULES:
            yield name, meant
