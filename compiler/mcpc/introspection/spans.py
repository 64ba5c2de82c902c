"""Spans of the nodes of a Python syntax tree: a tree counts bytes of UTF-8, a span code points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span

if TYPE_CHECKING:
    import ast

    from mcpc.sources import Source

BYTE_ORDER_MARK = "\ufeff"
DEFINITION = re.compile(r"(?:async(?:\s|\\)+)?(?:def|class)(?:\s|\\)+")
NAME = re.compile(r"\w+")


def offset_of_bytes(source: Source, line: int, column: int) -> int:
    """Return the offset of a line, counted from 1, and a column in bytes."""
    start = source.offset(line, 1)
    if start == 0 and source.text.startswith(BYTE_ORDER_MARK):
        start = 1
    before = source.text[start : start + column].encode("utf-8", "surrogateescape")[:column]
    return start + len(before.decode("utf-8", "ignore"))


def node_span(source: Source, node: ast.expr | ast.stmt | ast.alias | ast.keyword) -> Span:
    """Return the span of a node."""
    start = offset_of_bytes(source, node.lineno, node.col_offset)
    end = offset_of_bytes(source, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return Span(source.path, start, max(start, end))


def name_span(source: Source, node: ast.stmt | ast.arg | ast.keyword) -> Span:
    """Return the span of the name of a definition, a parameter or a keyword."""
    start = offset_of_bytes(source, node.lineno, node.col_offset)
    leading = DEFINITION.match(source.text, start)
    start = leading.end() if leading else start
    found = NAME.match(source.text, start)
    return Span(source.path, start, found.end() if found else start)


def line_span(source: Source, number: int) -> Span:
    """Return the span of a line's text."""
    start = source.offset(number, 1)
    text = source.text[start:].splitlines()[0] if start < len(source.text) else ""
    begin = start + len(text) - len(text.lstrip())
    return Span(source.path, begin, start + len(text.rstrip()) if text.strip() else begin)
