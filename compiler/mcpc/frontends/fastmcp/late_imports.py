"""Modules that a program imports only when a function is called: the run of the build does not import them.

Every file of the project that its entry reaches by imports is read, not run.  A module that is neither in the standard
library, nor in the project, nor in a package of the program is reported, unless the import is ready to fail, for type
checkers only, or for another system.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.frontends.fastmcp.entry_points import module_file
from mcpc.frontends.fastmcp.imports import imported_modules
from mcpc.languages import imports
from mcpc.languages.python import needed_nodes, parse_python
from mcpc.packages import missing_module_hint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.reading import Source, SourceTree

STAND_INS = frozenset({"fastmcp", "mcp", "mcp_types", "mcpc", "uvicorn"})
"""Modules that every built program has: stand-ins, or the framework itself."""


def missing_late_imports(tree: SourceTree, entry: EntryPoint, packages: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield the modules that will be missing, each at its first import in a file; `packages`: those of packages."""
    for source in reached_files(tree, entry):
        for name, span, hint in missing_imports(source, tree, packages):
            message = f"the module `{name}`, which is imported only when it is needed, will not be available"
            yield diagnose("MCP297", span, message, "", hint)


def missing_imports(source: Source, tree: SourceTree, packages: frozenset[str]) -> Iterator[tuple[str, Span, str]]:
    """Yield the modules that a file imports and that will be missing, each with its first place and what to do."""
    own = {path.rpartition("/")[2].removesuffix(".py") for path in tree.files if path.endswith(".py")}
    own |= {part for path in tree.files if path.endswith(".py") for part in path.split("/")[:-1]}
    known = own | packages | STAND_INS | sys.stdlib_module_names
    # Reversed, so that the first place of each name is the one that stays.
    missing = {name: span for name, span in reversed(imports(source)) if name not in known}
    for name, span in sorted(missing.items(), key=lambda item: item[1]):
        yield name, span, missing_module_hint(name, (*sorted(own), *sorted(packages), *sorted(sys.stdlib_module_names)))


def reached_files(tree: SourceTree, entry: EntryPoint) -> list[Source]:
    """Return the files of the project that an entry imports, at once or later, sorted by path."""
    first = tree.get(entry.file) if entry.file else None
    files = {} if first is None else {first.path: first}
    waiting = [*files.values()]
    while waiting:
        source = waiting.pop()
        for path in _imported_files(source, entry, tree):
            if path not in files:
                files[path] = tree.files[path]
                waiting.append(files[path])
    return [files[path] for path in sorted(files)]


def _imported_files(source: Source, entry: EntryPoint, tree: SourceTree) -> Iterator[str]:
    """Yield the files that a file's imports name, with those of the packages they are in."""
    folder = source.path.rpartition("/")[0]
    for name in imported_modules(source):
        dots = len(name) - len(name.lstrip("."))
        parents = folder.split("/") if folder else []
        # One dot is the file's own folder, each further one the folder above.
        base = "/".join(parents[: len(parents) - dots + 1]) if dots else ""
        roots = (base,) if dots else (*entry.paths, folder)
        parts = name[dots:].split(".")
        for count in range(1, len(parts) + 1):
            modules = (module_file(".".join(parts[:count]), root, tree) for root in roots)
            yield from filter(None, modules)


FRAMEWORKS = ("fastmcp", "mcp", "mcp_types")
"""The packages with stand-ins whose names are asked for."""
METHODS = {
    **dict.fromkeys(("add_provider", "add_transform", "add_tool_transformation", "local_provider"), "FastMCP"),
    **dict.fromkeys(("_components", "_mcp_server", "_mounted_servers", "_tool_manager"), "FastMCP"),
    **dict.fromkeys(("_prompt_manager", "_resource_manager", "add_resource_fn", "generate_name"), "FastMCP"),
    **dict.fromkeys(("create_resource", "resolve_security"), "resources.ResourceTemplate"),
    **dict.fromkeys(("client_supports_extension", "is_background_task"), "Context"),
    **dict.fromkeys(("origin_request_id", "sample_step"), "Context"),
    **dict.fromkeys(("task_config", "to_mcp_tool"), "tools.Tool"),
    "to_mcp_prompt": "prompts.Prompt",
    "to_mcp_prompt_message": "prompts.Message",
    "to_mcp_prompt_result": "prompts.PromptResult",
    "to_mcp_resource": "resources.Resource",
    "to_mcp_resource_contents": "resources.ResourceContent",
    "to_mcp_result": "tools.tool.ToolResult",
    "to_mcp_template": "resources.ResourceTemplate",
}
"""Attributes that only objects of FastMCP have, of any object in a file that imports it, with their classes."""
ARGUMENTS = {"sample": frozenset({"tools", "result_type", "execute_tools", "**"})}
"""Arguments of methods of the context that have no stand-in, by the methods."""
HOOKS = frozenset({"on_initialize"})
"""Methods that middleware of FastMCP may define."""
ROUTES = "custom_route"
HTTP_NAMES = frozenset(
    {
        *("get_http_request", "get_http_headers", "get_access_token", "CurrentRequest", "CurrentHeaders"),
        *("CurrentAccessToken", "TokenClaim", ROUTES),
    }
)
"""What a program has of requests over HTTP."""
Named = tuple[str, int]
"""A dotted name, and its line."""


def framework_names(tree: SourceTree, entry: EntryPoint) -> list[list[object]]:
    """Return the names in the files that an entry reaches, each once in a file: the name, the file, the line."""
    rows: list[list[object]] = []
    for source in reached_files(tree, entry):
        parsed = parse_python(source)
        # Of rows with one name the last stays, which is that of its first line.
        named = {} if parsed is None else dict(sorted(names_in(parsed), reverse=True))
        rows += ([name, source.path, line] for name, line in sorted(named.items()))
    return rows


def http_uses(tree: SourceTree, entry: EntryPoint) -> Iterator[tuple[str, Source, int]]:
    """Yield what the files that an entry reaches use of requests over HTTP, each once in a file, with its line."""
    for source in reached_files(tree, entry):
        parsed = parse_python(source)
        nodes = [] if parsed is None else [*ast.walk(parsed)]
        attributes = [(node.attr, node.lineno) for node in nodes if isinstance(node, ast.Attribute)]
        named = [] if parsed is None else [(name.rpartition(".")[2], line) for name, line in names_in(parsed)]
        routes = [(name, line) for name, line in attributes if name == ROUTES and named]
        for name, line in dict(sorted((*named, *routes), reverse=True)).items():
            if name in HTTP_NAMES:
                yield name, source, line


def names_in(parsed: ast.Module) -> Iterator[Named]:
    """Yield what is imported, unless the import is ready to fail, and what is used of it.

    A name that means something else somewhere in the file (`import mcp` and `def register(mcp)`) is left out.
    """
    nodes = [*needed_nodes(parsed)]
    imported = [row for node in nodes for row in _imported(node)]
    yield from ((name, line) for _, _, name, line in imported)
    others = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    others |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    meant = {bound: module for bound, module, _, _ in imported if bound not in others}
    is_fastmcp = any(name.startswith("fastmcp") for _, _, name, _ in imported)
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in HOOKS and is_fastmcp:
                yield f"fastmcp.server.middleware.Middleware.{node.name}", node.lineno
        elif isinstance(node, ast.Attribute):
            yield from _attribute_names(node, meant, METHODS if is_fastmcp else {})
        elif isinstance(node, ast.Call) and is_fastmcp:
            yield from _lacking_arguments(node)


def _attribute_names(node: ast.Attribute, meant: Mapping[str, str], methods: Mapping[str, str]) -> Iterator[Named]:
    """Yield the dotted name of an attribute of what was imported, or of an object's method."""
    first, *rest = _attributes(node)
    if first in meant:
        yield ".".join((meant[first], *rest)), node.lineno
    elif node.attr in methods:
        yield f"fastmcp.{methods[node.attr]}.{node.attr}", node.lineno


def _lacking_arguments(node: ast.Call) -> Iterator[Named]:
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    for name in [each.arg or "**" for each in node.keywords] if method in ARGUMENTS else ():
        if name in ARGUMENTS[method]:
            yield f"fastmcp.Context.{method}({name})", node.lineno


def _imported(node: ast.AST) -> Iterator[tuple[str, str, str, int]]:
    """Yield what an import binds of a framework: the name in the file, what that is, what is imported, the line."""
    if isinstance(node, ast.Import):
        rows = [(each.asname or each.name.partition(".")[0], each.name, bool(each.asname)) for each in node.names]
        names = [(bound, name if whole else bound, name) for bound, name, whole in rows]
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        named = [(each.asname or each.name, f"{node.module}.{each.name}".removesuffix(".*")) for each in node.names]
        names = [(bound, name, name) for bound, name in named]
    else:
        return
    for bound, meant, name in names:
        if name.partition(".")[0] in FRAMEWORKS:
            yield bound, meant, name, node.lineno


def _attributes(node: ast.AST) -> list[str]:
    """Return the parts of `a.b.c`; an empty name for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else [""]
