"""Problems for people: the line with the place underlined, what to do about it, and a last line that counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.place import SourceText, advice_of, region_of
from mcpc.diagnostics.formats.visible import excerpt, visible
from mcpc.diagnostics.model import Severity, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.diagnostics.model import Diagnostic, Diagnostics

    Paint = Callable[[str, str], str]

ITEM = "\n- "
"""What separates the items of advice that is a list: each has a line of its own."""
COLOURS = {"error": "1;31", "warning": "1;33", "note": "1;36", "gutter": "1;34", "message": "1"}


def as_text(diagnostics: Diagnostics, sources: Mapping[str, SourceText]) -> str:
    """Return a report without colour."""
    return render_text(diagnostics, sources, colour=False)


def render_text(diagnostics: Diagnostics, sources: Mapping[str, SourceText], *, colour: bool) -> str:
    """Return a report, with the escape sequences of a terminal if `colour`."""
    problems = in_order(diagnostics)
    paint = _painted if colour else _plain
    blocks = ["\n".join(line.rstrip() for line in _block(problem, sources, paint)) for problem in problems]
    return "\n\n".join((*blocks, _summary(problems))) + "\n"


def _painted(text: str, style: str) -> str:
    return f"\x1b[{COLOURS[style]}m{text}\x1b[0m"


def _plain(text: str, _style: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class _Snippet:
    """The lines under a problem's first one, and the width of the line number."""

    lines: tuple[str, ...]
    gutter: int = 1


def _block(problem: Diagnostic, sources: Mapping[str, SourceText], paint: Paint) -> list[str]:
    kind = paint(f"{problem.severity}[{problem.code}]", problem.severity)
    snippet = _snippet(problem, sources, paint)
    margin = " " * snippet.gutter
    said = ((word, *text.split(ITEM)) for word, text in advice_of(problem))
    advice = [
        line
        for word, text, *items in said
        for line in (
            f"{margin} {paint('=', 'gutter')} {word}: {visible(text)}",
            *(f"{margin}   - {visible(item)}" for item in items),
        )
    ]
    return [kind + paint(f": {visible(problem.message)}", "message"), *snippet.lines, *advice]


def _snippet(problem: Diagnostic, sources: Mapping[str, SourceText], paint: Paint) -> _Snippet:
    span = problem.span
    if span is None:
        return _Snippet(())
    path = visible(span.path)
    region = region_of(problem, sources)
    if region is None:
        return _Snippet((f" {paint('-->', 'gutter')} {path}",))
    line, column = region.start
    marked = excerpt(sources[span.path].text, span.start, span.end)
    number = str(line)
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
    worst = min(problems, key=lambda problem: list(Severity).index(problem.severity))
    return f"{', '.join(parts)}; `mcpc explain {worst.code}` says more"
