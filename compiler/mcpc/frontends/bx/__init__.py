"""Projects of bx-mcp: functions with its decorators, and the settings of its server in `boxlang.json`.

BoxLang is neither run nor parsed: a decorator is an annotation of one of three names, outside comments, and belongs to
the next `function`.

The decorators are Python's (`@mcp_tool`, `@mcp_resource`, `@mcp_prompt`), in files at the top of the project and in
`tools/`; code in BoxLang is reported with its Python equivalent.  The settings file is never included: it has secrets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.bx.settings import FILE, read_settings
from mcpc.frontends.decorated import DEFINITION_FILES, VERSION, DecoratorFamily, has_decorators, read_decorated
from mcpc.frontends.introspection import KEYWORD_KINDS, find_decorated
from mcpc.model.definitions import Definition, HandlerLibrary, ServerDefinition
from mcpc.model.ir import Traits
from mcpc.reading.json_tree import implied_node
from mcpc_runtime.protocol.tool_choice import allows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.bx.settings import Settings
    from mcpc.model.definitions import ToolDefinition
    from mcpc.options import Options
    from mcpc.reading import Json, Source, SourceTree


LOOKS_FOR = (
    "Python functions with `@mcp_tool`, `@mcp_resource` or `@mcp_prompt` in the project folder or in `tools/`; or "
    "`boxlang.json` with `modules.bxmcp`"
)
FORMAT = "bx-mcp"
RUNTIME = "mcpc_runtime.systems.bx"
TRAITS = Traits(
    hooks=(
        ("allowed_addresses", f"{RUNTIME}.auth:allowed_addresses"),
        ("authenticator", f"{RUNTIME}.auth:authenticator_of"),
        ("http_paths", f"{RUNTIME}.auth:path_option"),
        ("mount", f"{RUNTIME}.endpoint:mount"),
        ("refuse_beside", f"{RUNTIME}.auth:refuse_beside"),
        ("secret_variables", f"{RUNTIME}.variables:secret_variables"),
    )
)
FOLDER = "tools/"
DECORATOR_NAME = re.compile(rb"\bmcp_(?:tool|resource|prompt)\b")
MODULE = re.compile(rb'"bx-?mcp"\s*:', re.IGNORECASE)
WHERE_TO_DEFINE = f"define it in a file in the project folder, or in `{FOLDER}`"
NOTHING = "a server needs definitions, not only settings"


def recognises(tree: SourceTree) -> bool:
    """Tell whether the project has settings or functions for bx-mcp."""
    source = tree.get(FILE)
    if source is not None and MODULE.search(source.data):
        return True
    return any(is_boxlang(file) for file in tree.files.values()) or bool(definition_files(tree))


def definition_files(tree: SourceTree) -> tuple[str, ...]:
    """Return the files with decorators of bx-mcp, in the order of their definitions."""
    return tuple(path for path in tree.files if is_definition_path(path) and has_bx_decorators(tree, path))


def is_definition_path(path: str) -> bool:
    """Tell whether decorators define something in a file at this path."""
    return path.endswith(".py") and "/" not in path.removeprefix(FOLDER)


def has_bx_decorators(tree: SourceTree, path: str) -> bool:
    """Tell whether a file has a decorator of bx-mcp, or tries to use one."""
    source = tree.files[path]
    if not DECORATOR_NAME.search(source.data):
        return False
    decorated = find_decorated(source, {}, KEYWORD_KINDS)
    return decorated is not None and bool(decorated.marks or decorated.seen or not decorated.runs)


def parse(tree: SourceTree, _: Options) -> tuple[Definition | None, Diagnostics]:
    """Read the settings, and every decorated function that they do not exclude."""
    settings, problems = read_settings(tree)
    places = definition_files(tree)
    described = tree.get("server.json") is not None
    decorated, about = read_decorated(
        tree, described=described, family=DecoratorFamily(KEYWORD_KINDS, places, WHERE_TO_DEFINE, DEFINITION_FILES)
    )
    native = any(map(has_decorators, tree.files.values()))
    problems += (*untranslated(tree), *about)
    tools, left_out = select_tools(decorated.tools, settings)
    problems += (*left_out, *patterns_without_tools(decorated.tools, settings))
    if not (decorated.offers or has_errors(problems) or native or described):
        where = Span(FILE) if tree.get(FILE) else None
        problems += (diagnose("MCP004", where, "no function has the decorator `@mcp_tool`", LOOKS_FOR, NOTHING),)
    kept = {FILE, *places, *(path for path, file in tree.files.items() if is_boxlang(file))}
    said: Json = {"serverInfo": {"name": tree.name or FORMAT, "version": VERSION}}
    definition = Definition(
        format=FORMAT,
        server=decorated.server or ServerDefinition(implied_node(said, Span(next(iter(places), FILE))), implied=True),
        tools=tools,
        prompts=decorated.prompts,
        resources=decorated.resources,
        templates=decorated.templates,
        libraries=tuple(HandlerLibrary(tree.files[path], "python", ()) for path in places),
        beside=tuple(source for path, source in tree.files.items() if path not in kept),
        sources=tuple(source for path, source in tree.files.items() if path in kept),
        complete=not has_errors(problems),
        runtime_settings=(("bx", settings.at_run_time()),),
        traits=TRAITS,
    )
    return definition, problems


def select_tools(
    tools: tuple[ToolDefinition, ...], settings: Settings
) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the tools that the settings include, and a note about each excluded one."""
    kept = tuple(tool for tool in tools if allows(settings.included, settings.excluded, tool_name(tool)))
    gone = [tool for tool in tools if tool not in kept]
    hint = f"see `includedTools` and `excludedTools` in `{FILE}`"
    return kept, tuple(
        diagnose("MCP264", tool.node.span, f"the tool `{tool_name(tool)}` is left out", "", hint) for tool in gone
    )


def patterns_without_tools(tools: tuple[ToolDefinition, ...], settings: Settings) -> Iterator[Diagnostic]:
    """Yield patterns that match no tool of the project, which are probably misspelt."""
    names = [tool_name(tool) for tool in tools]
    for pattern, span in settings.patterns if names else ():
        if not any(allows((pattern,), (), name) for name in names):
            hint = "`*` matches any characters, `?` one character; patterns are case-sensitive"
            yield diagnose("MCP265", span, f"no tool matches `{pattern}`", "", hint)


def tool_name(tool: ToolDefinition) -> str:
    """Return the name of a tool, or an empty string."""
    name = tool.node.get("name")
    return str(name.value) if name is not None else ""


ENDINGS = (".bx", ".bxs", ".bxm", ".boxlang")
# Possessive, so that a comment without an end takes no more than linear time.
COMMENT = re.compile(r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|//[^\n]*+")
DECORATOR = re.compile(r"@mcp(?P<kind>Tool|Resource|Prompt)\b", re.IGNORECASE)
REGISTERED = re.compile(r"\bMCPServer\s*\(", re.IGNORECASE)
FUNCTION = re.compile(r"\bfunction\s+(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>[^)]*)\)", re.IGNORECASE)
# `required`, a type, a name and a default, of which all but the name may be missing.
PARAMETER = re.compile(
    r"(?:required\s+)?(?:(?P<type>[A-Za-z]\w*)\s+)?(?P<name>[A-Za-z_]\w*)\s*(?P<default>=.*)?",
    re.IGNORECASE | re.DOTALL,
)
TYPES = {
    "array": "list",
    "boolean": "bool",
    "date": "str",
    "double": "float",
    "integer": "int",
    "numeric": "float",
    "string": "str",
    "struct": "dict",
    "uuid": "str",
}
BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
MAX_REPORTED = 50
"""Maximum number of decorators of one file that are reported."""


def is_boxlang(source: Source) -> bool:
    """Tell whether a file is BoxLang code that defines something for an MCP server."""
    return source.path.lower().endswith(ENDINGS) and (_search(DECORATOR, source) or _search(REGISTERED, source))


def _search(pattern: re.Pattern[str], source: Source) -> bool:
    return pattern.search(COMMENT.sub(_spaces, source.text)) is not None


def _spaces(match: re.Match[str]) -> str:
    # As many, so that the offsets of what follows are those of the file.
    return " " * len(match[0])


def untranslated(tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the definitions in BoxLang files, each with its Python equivalent."""
    for source in tree.files.values():
        if is_boxlang(source):
            yield from _untranslated_of_file(source)


def _untranslated_of_file(source: Source) -> Iterator[Diagnostic]:
    text = COMMENT.sub(_spaces, source.text)
    marks = list(DECORATOR.finditer(text))[:MAX_REPORTED]
    end = text.rfind(")") + 1  # behind it no function is whole, and each would be looked through to the end of the file
    for mark in marks:
        function = FUNCTION.search(text, mark.end(), end)
        written = f"@mcp_{mark['kind'].lower()}"
        hint = f"in a Python file: `from mcpc import {written[1:]}`, then `{written}` above a function"
        if function is not None:
            hint = (
                f"in a Python file: `{written}` above `{_signature(function)}`, with `from mcpc import {written[1:]}`"
            )
        message = f"`{mark[0]}` is on BoxLang code, which mcpc cannot compile"
        yield diagnose("MCP260", Span(source.path, *mark.span()), message, "a decorated Python function", hint)
    registered = None if marks else REGISTERED.search(text)
    if registered is not None:
        message = "a server is registered by BoxLang code, which mcpc cannot compile"
        hint = "write each tool as a Python function with `@mcp_tool`; `boxlang.json` can stay unchanged"
        yield diagnose("MCP260", Span(source.path, *registered.span()), message, "decorated Python functions", hint)


def _signature(function: re.Match[str]) -> str:
    """Return the function's signature in Python."""
    parameters = [_parameter(item.strip()) for item in function["parameters"].split(",")]
    return f"def {_snake_case(function['name'])}({', '.join(filter(None, parameters))})"


def _parameter(written: str) -> str:
    match = PARAMETER.match(written)
    if match is None:
        return ""
    kind = TYPES.get((match["type"] or "").lower(), "")
    hint = f": {kind}" if kind else ""
    optional = "" if written.lower().startswith("required ") else " = ..." if hint else "=..."
    return f"{_snake_case(match['name'])}{hint}{optional}"


def _snake_case(name: str) -> str:
    return BOUNDARY.sub("_", name).lower()
