"""What is known of an exception (`mcpc_runtime.artifact.build_time.raised`), and when project code is run."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span
from mcpc.languages.python import python_text

if TYPE_CHECKING:
    from mcpc.reading import Source, SourceTree

MAX_NUMBER = 1 << 31


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: its type with its bases, its message, and the last place in the project.

    `column`, `end_column`: in bytes, -1 if unknown.  `name`: what was not found: a name, an attribute (of `owner`,
    which is a module if `of_module`), a key, a keyword (`is_keyword`); `known`: the names among which it may be.
    `partial`: a module that was still being imported.  `file`: what could not be opened, or started (`is_program`).
    `fields`: those of a model that are not valid, and the `variables` they are from.  `absent`: variables that the
    project looked up and that are not set, the last one at the end.
    """

    type: str = ""
    bases: tuple[str, ...] = ()
    message: str = ""
    path: str = ""
    line: int = 0
    column: int = -1
    end_line: int = 0
    end_column: int = -1
    name: str = ""
    owner: str = ""
    of_module: bool = False
    known: tuple[str, ...] = ()
    partial: str = ""
    file: str = ""
    is_program: bool = False
    is_keyword: bool = False
    fields: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Occasion:
    """How project code is run during a build: what does it, and when else code may do what a build cannot."""

    does: str
    later: str


IMPORTED = Occasion("the build imports the file", "inside the function that needs it")
STARTED = Occasion("the build runs the program until it serves", "when a tool is called, or in `lifespan`")


@dataclass(frozen=True, slots=True)
class FailedRun:
    """An exception, the project it is of, and how its code was run."""

    raised: Raised
    tree: SourceTree
    occasion: Occasion

    @property
    def other_time(self) -> str:
        """When code may do what a build cannot."""
        return self.occasion.later

    def has(self, *names: str) -> bool:
        """Tell whether the exception is of one of these types."""
        return not {*names}.isdisjoint((self.raised.type, *self.raised.bases))


def parse_raised(row: object) -> Raised | None:
    """Return what a process said of an exception; None if it has another shape, because project code may write it."""
    if not isinstance(row, dict) or not row.keys() <= {field.name for field in fields(Raised)}:
        return None
    values = {field.name: parsed(row[field.name], field.default) for field in fields(Raised) if field.name in row}
    return None if None in values.values() else Raised(**values)


def parsed(value: object, default: object) -> Any:
    """Return a value of the type of a default, None if it has another one."""
    if isinstance(default, tuple):
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return tuple(value) if is_list and isinstance(value, list) else None
    # Not `isinstance`: for Python True is an int.
    if type(value) is not type(default):
        return None
    return value if not isinstance(value, int) or -1 <= value < MAX_NUMBER else None


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
    matches = [*re.finditer(rf"\b{re.escape(raised.name)}\b", source.text[span.start : span.end])]
    if not matches:
        return first_line(source, span)
    match = matches[0] if raised.type in FIRST_NAMES else matches[-1]
    return Span(span.path, span.start + match.start(), span.start + match.end())


def first_line(source: Source, span: Span) -> Span:
    """Return the part of a span that is in its first line."""
    line = source.text[span.start : span.end].splitlines()[0]
    return Span(span.path, span.start, span.start + len(line.rstrip()))
