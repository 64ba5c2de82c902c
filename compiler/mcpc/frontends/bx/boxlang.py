"""BoxLang's own files: their marks are found, and reported with the Python function that each of them would be.

Nothing here runs or understands BoxLang: a mark is an annotation of one of three names, outside comments, and what it
marks is the next `function`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.sources import Source, SourceTree

ENDINGS = (".bx", ".bxs", ".bxm", ".boxlang")
COMMENT = re.compile(r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|//[^\n]*+")
MARK = re.compile(r"@mcp(?P<kind>Tool|Resource|Prompt)\b", re.IGNORECASE)
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
MOST = 50
"""So many marks of one file are told."""


def is_boxlang(source: Source) -> bool:
    """Tell whether a file is BoxLang code that defines something for an MCP server."""
    return source.path.lower().endswith(ENDINGS) and (_search(MARK, source) or _search(REGISTERED, source))


def _search(pattern: re.Pattern[str], source: Source) -> bool:
    return pattern.search(COMMENT.sub(_blank, source.text)) is not None


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def untranslated(tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield what BoxLang files define, each with what it would be in Python."""
    for source in tree.files.values():
        if is_boxlang(source):
            yield from _of_file(source)


def _of_file(source: Source) -> Iterator[Diagnostic]:
    text = COMMENT.sub(_blank, source.text)
    marks = list(MARK.finditer(text))[:MOST]
    end = text.rfind(")") + 1  # behind it no function is whole, and each would be looked through to the end of the file
    for mark in marks:
        function = FUNCTION.search(text, mark.end(), end)
        written = f"@mcp_{mark['kind'].lower()}"
        hint = f"in a Python file: `from mcpc import {written[1:]}`, then `{written}` above a function"
        if function is not None:
            hint = f"in a Python file: `{written}` above `{_python(function)}`, with `from mcpc import {written[1:]}`"
        message = f"`{mark[0]}` marks BoxLang code, which mcpc cannot compile"
        yield diagnose("MCP260", Span(source.path, *mark.span()), message, "a marked Python function", hint)
    registered = None if marks else REGISTERED.search(text)
    if registered is not None:
        message = "a server is registered by BoxLang code, which mcpc cannot compile"
        hint = "write each tool as a Python function marked `@mcp_tool`; `boxlang.json` may stay as it is"
        yield diagnose("MCP260", Span(source.path, *registered.span()), message, "marked Python functions", hint)


def _python(function: re.Match[str]) -> str:
    """Return the head of the function in Python."""
    parameters = [_parameter(one.strip()) for one in function["parameters"].split(",")]
    return f"def {_snake(function['name'])}({', '.join(filter(None, parameters))})"


def _parameter(written: str) -> str:
    found = PARAMETER.match(written)
    if found is None:
        return ""
    kind = TYPES.get((found["type"] or "").lower(), "")
    hint = f": {kind}" if kind else ""
    optional = "" if written.lower().startswith("required ") else " = ..." if hint else "=..."
    return f"{_snake(found['name'])}{hint}{optional}"


def _snake(name: str) -> str:
    return BOUNDARY.sub("_", name).lower()
