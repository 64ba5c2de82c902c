"""BoxLang source files: decorated functions are found, and reported with the Python equivalent of each.

BoxLang is neither run nor parsed: a decorator is an annotation of one of three names, outside comments, and belongs to
the next `function`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Source, SourceTree

ENDINGS = (".bx", ".bxs", ".bxm", ".boxlang")
COMMENT = re.compile(r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|//[^\n]*+")
DECORATOR = re.compile(r"@mcp(?P<kind>Tool|Resource|Prompt)\b", re.IGNORECASE)
REGISTERED = re.compile(r"\bMCPServer\s*\(", re.IGNORECASE)
FUNCTION = re.compile(r"\bfunction\s+(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>[^)]*)\)", re.IGNORECASE)
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


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])


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
    found = PARAMETER.match(written)
    if found is None:
        return ""
    kind = TYPES.get((found["type"] or "").lower(), "")
    hint = f": {kind}" if kind else ""
    optional = "" if written.lower().startswith("required ") else " = ..." if hint else "=..."
    return f"{_snake_case(found['name'])}{hint}{optional}"


def _snake_case(name: str) -> str:
    return BOUNDARY.sub("_", name).lower()
