"""The places of exceptions in the files of a project: what the columns of Python's traceback name, or a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.languages.python import python_text

if TYPE_CHECKING:
    from mcpc.frontends.causes.model import Raised
    from mcpc.reading import Source

FIRST_NAMES = ("NameError", "ModuleNotFoundError")
"""Exceptions whose name is the first of its spelling in the code that raises them; for others it is the last."""


def line_span(source: Source, number: int) -> Span:
    """Return the span of a line's text."""
    start = source.offset(number, 1)
    text = source.text[start:].splitlines()[0] if start < len(source.text) else ""
    begin = start + len(text) - len(text.lstrip())
    return Span(source.path, begin, start + len(text.rstrip()) if text.strip() else begin)


def span_of(raised: Raised, source: Source) -> Span:
    """Return the place of an exception: the name that it is about, else the expression, else the line."""
    if raised.column < 0 or raised.end_line < raised.line:
        return line_span(source, raised.line)
    text = python_text(source)
    start, end = text.offset(raised.line, raised.column), text.offset(raised.end_line, raised.end_column)
    if not start < end:
        return line_span(source, raised.line)
    return within(source, Span(source.path, start, end), raised)


def within(source: Source, span: Span, raised: Raised) -> Span:
    """Return the place of the name that an exception is about within an expression, if it is written there."""
    if not raised.name.replace(".", "").isidentifier() or not (
        {"NameError", "AttributeError", "ImportError"} & {*raised.bases}
    ):
        return first_line(source, span)
    found = [*re.finditer(rf"\b{re.escape(raised.name)}\b", source.text[span.start : span.end])]
    if not found:
        return first_line(source, span)
    match = found[0] if raised.type in FIRST_NAMES else found[-1]
    return Span(span.path, span.start + match.start(), span.start + match.end())


def first_line(source: Source, span: Span) -> Span:
    """Return the part of a span that is in its first line."""
    line = source.text[span.start : span.end].splitlines()[0]
    return Span(span.path, span.start, span.start + len(line.rstrip()))
