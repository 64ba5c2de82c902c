"""Remove from Python source what only readers and type checkers need, for compact files.

What is removed: comments, texts that stand alone, `if TYPE_CHECKING` and the annotations of signatures.  Lines keep
their numbers, for tracebacks.  The source is edited and not written anew from its syntax tree, because `ast.unparse` of
each Python version writes differently, and the digest of the sources is the same for all.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EMPTY = b"''"
"""Stands for removed statements: valid in any place, even before `from __future__`."""
ARROW = b" ->"


class SourceSpan(NamedTuple):
    """A part of a source, from a line (from 1) and column (from 0, in bytes) to another, and what replaces it."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: bytes = b""


def without_commentary(source: bytes) -> bytes:
    """Return a module's source (UTF-8) without commentary; every remaining token is on the line where it was."""
    tree = ast.parse(source)
    lines = source.split(b"\n")
    removed: list[SourceSpan] = []
    for span in sorted([*statement_spans(tree), *annotation_spans(tree, lines), *comment_spans(source, lines)]):
        if not removed or (span.line, span.column) >= (removed[-1].end_line, removed[-1].end_column):
            removed.append(span)  # not one inside of another, which begins before it
    for span in reversed(removed):
        first, last = span.line - 1, span.end_line - 1
        joined = lines[first][: span.column] + span.text + lines[last][span.end_column :]
        lines[first : last + 1] = [joined.rstrip(), *[b""] * (last - first)]
    return b"\n".join(lines)


def statement_spans(tree: ast.Module) -> Iterator[SourceSpan]:
    """Yield texts that stand alone, and what only type checkers run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield span_of([node], EMPTY)
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield span_of(node.body if node.orelse else [node], EMPTY)


def annotation_spans(tree: ast.Module, lines: Sequence[bytes]) -> Iterator[SourceSpan]:
    """Yield the annotations of signatures, with what separates them."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = node.args
        for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if argument is not None and argument.annotation is not None:
                whole = span_of([argument])
                yield whole._replace(column=whole.column + len(argument.arg.encode()))
        if node.returns is not None:
            whole = span_of([node.returns])
            arrow = lines[whole.line - 1].rfind(ARROW, 0, whole.column)
            if arrow >= 0:
                yield whole._replace(column=arrow)


def comment_spans(source: bytes, lines: Sequence[bytes]) -> Iterator[SourceSpan]:
    """Yield the comments, but not a line that says how the file is run or encoded."""
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT and row > 2:
            yield SourceSpan(row, len(token.line[:column].encode()), row, len(lines[row - 1]))


def span_of(nodes: Sequence[ast.stmt | ast.expr | ast.arg], text: bytes = b"") -> SourceSpan:
    """Return the span from the first of some nodes to the last."""
    first, last = nodes[0], nodes[-1]
    return SourceSpan(first.lineno, first.col_offset, last.end_lineno or 0, last.end_col_offset or 0, text)
