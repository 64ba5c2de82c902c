"""Text format for people: the source line with the range underlined, advice, and a last line with counts.

`mcpc dev` reads a JSON list with the text of each problem (`BLOCKS`), so that known problems can be left out. It is
internal to the compiler and its child process: no option of `--format` names it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.source_location import SourceText, advice_lines, region_of
from mcpc.diagnostics.formats.visible import DEFAULT_WIDTH, MIN_WIDTH, excerpt, visible, wrapped
from mcpc.diagnostics.model import Severity, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.diagnostics.model import Diagnostic, Diagnostics

    Paint = Callable[[str, str], str]

ITEM = "\n- "
"""Separator of the items of advice that is a list: each gets a separate line."""
ROUND_EXCERPT = 5
"""Columns beside an excerpt and its line number: the bar, spaces, and the signs where it is cut."""
COLOURS = {"error": "1;31", "warning": "1;33", "note": "1;36", "gutter": "1;34", "message": "1"}


def as_text(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> str:
    """Return a report without colour."""
    return render_text(diagnostics, sources, colour=False)


def render_text(diagnostics: Diagnostics, sources: Mapping[str, SourceText], *, colour: bool, width: int = 0) -> str:
    """Return a report, with terminal escape sequences if `colour`.

    `width`: the columns of the terminal, for wrapping lines and cutting excerpts; 0 for no limit.
    """
    problems = in_order(diagnostics)
    blocks = render_blocks(problems, sources, colour=colour, width=width)
    return "\n\n".join((*blocks, _summary(problems))) + "\n"


def render_blocks(
    problems: Diagnostics, sources: Mapping[str, SourceText], *, colour: bool, width: int = 0
) -> list[str]:
    """Return the text of each problem, in the given order, in the form of `render_text`."""
    page = _Page(sources, _painted if colour else _plain, max(width, MIN_WIDTH) if width else 0)
    return ["\n".join(line.rstrip() for line in _block(problem, page)) for problem in problems]


def _painted(text: str, style: str) -> str:
    return f"\x1b[{COLOURS[style]}m{text}\x1b[0m"


def _plain(text: str, _style: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class _Page:
    """Parameters of a report: the files, colours, and the columns of a line, 0 for no limit."""

    sources: Mapping[str, SourceText]
    paint: Paint
    width: int


@dataclass(frozen=True, slots=True)
class _Snippet:
    """The lines below the first line of a problem, and the width of the line number."""

    lines: tuple[str, ...]
    gutter: int = 1


def _block(problem: Diagnostic, page: _Page) -> list[str]:
    kind = f"{problem.severity}[{problem.code}]"
    snippet = _snippet(problem, page)
    # Wrapped before it is painted: escape sequences take no columns.
    first, *rest = wrapped(f"{kind}: {visible(problem.message)}", page.width, "  ")
    message = page.paint(kind, problem.severity) + page.paint(first.removeprefix(kind), "message")
    advice = [line for word, text in advice_lines(problem) for line in _advice(word, text, snippet.gutter, page)]
    return [message, *(page.paint(line, "message") for line in rest), *snippet.lines, *advice]


def _advice(word: str, text: str, gutter: int, page: _Page) -> list[str]:
    margin = " " * gutter
    first, *items = text.split(ITEM)
    lines = wrapped(f"{margin} = {word}: {visible(first)}", page.width, f"{margin}   ")
    lines[0] = lines[0].replace("=", page.paint("=", "gutter"), 1)
    return [
        *lines,
        *(line for item in items for line in wrapped(f"{margin}   - {visible(item)}", page.width, f"{margin}     ")),
    ]


def _snippet(problem: Diagnostic, page: _Page) -> _Snippet:
    span, sources, paint = problem.span, page.sources, page.paint
    if span is None:
        return _Snippet(())
    path = visible(span.path)
    region = region_of(problem, sources)
    if region is None:
        return _Snippet((f" {paint('-->', 'gutter')} {path}",))
    line, column = region.start
    number = str(line)
    room = max(page.width - len(number) - ROUND_EXCERPT, MIN_WIDTH) if page.width else DEFAULT_WIDTH
    marked = excerpt(sources[span.path].text, span.start, span.end, room)
    margin = " " * len(number)
    bar = paint("|", "gutter")
    carets = paint("^" * marked.marked, problem.severity)
    lines = (
        f"{margin}{paint('-->', 'gutter')} {path}:{line}:{column}",
        f"{margin} {bar}",
        f"{paint(number, 'gutter')} {bar} {marked.line}",
        f"{margin} {bar} {' ' * marked.indent}{carets}",
    )
    return _Snippet(lines, len(number))


def _summary(problems: Diagnostics) -> str:
    if not problems:
        return "no problems found"
    counts = [(severity, sum(problem.severity is severity for problem in problems)) for severity in Severity]
    parts = [f"{count} {severity}{'s' if count > 1 else ''}" for severity, count in counts if count]
    # `Severity` begins with the worst.
    worst = min(problems, key=lambda problem: list(Severity).index(problem.severity))
    return f"{', '.join(parts)}; see `mcpc help {worst.code}`"


BLOCKS = "blocks:"
"""Prefix of this format's name; the terminal's width in columns follows, 0 without a terminal."""


def as_blocks(diagnostics: Diagnostics, sources: Mapping[str, SourceText], width: int) -> str:
    """Return the problems as JSON: `plain` is the text without colours and wrapping, `painted` that for a terminal."""
    problems = in_order(diagnostics)
    plain = render_blocks(problems, sources, colour=False)
    painted = render_blocks(problems, sources, colour=True, width=width)
    rows = [
        {
            "code": problem.code,
            "severity": problem.severity.value,
            "path": problem.span.path if problem.span else "",
            "message": problem.message,
            "plain": plain[number],
            "painted": painted[number],
        }
        for number, problem in enumerate(problems)
    ]
    return json.dumps(rows) + "\n"
