"""Why code of a project failed during a build: an exception, its place, and the help that its cause has.

    process of the project ─raised_facts─▶ JSON ─parse_raised─▶ Raised ─explained─▶ help

Files of decorated functions (MCP216) and programs of frameworks (MCP286) use one table of causes (CAUSES).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.frontends.causes import names, surroundings
from mcpc.frontends.causes.model import IMPORTED, STARTED, FailedRun, Occasion, Raised, line_span, parse_raised, span_of
from mcpc.frontends.causes.surroundings import VARIABLE, absent_text, give, variables_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.reading import SourceTree

__all__ = ["IMPORTED", "STARTED", "Help", "Occasion", "Raised", "explained", "line_span", "parse_raised", "span_of"]


@dataclass(frozen=True, slots=True)
class Help:
    """What to do about an exception; `certain`: its cause is known, so that nothing else is worth a try."""

    text: str
    certain: bool = True


def explained(raised: Raised, tree: SourceTree, occasion: Occasion, printed: str = "") -> Help:
    """Return what to do about an exception; `printed`: what the code wrote, in which it may name a variable."""
    run = FailedRun(raised, tree, occasion)
    for find in CAUSES:
        text = find(run)
        if text:
            return Help(text)
    named = [*dict.fromkeys(VARIABLE.findall(f"{raised.message}\n{printed}"))]
    if named:
        return Help(f"if it needs {variables_text(named)} to start, {give(named)}")
    return Help(
        f"{occasion.does}: correct this line, or do it {occasion.later}{absent_text(raised.absent)}", certain=False
    )


CAUSES: tuple[Callable[[FailedRun], str], ...] = (
    surroundings.settings_class,
    surroundings.absent_key,
    surroundings.absent_value,
    names.relative_import,
    names.missing_part,
    names.partial_module,
    names.hidden_module,
    names.misspelt_member,
    names.undefined_name,
    names.unknown_keyword,
    names.missing_argument,
    surroundings.missing_program,
    surroundings.missing_file,
    surroundings.network,
    surroundings.limits,
    surroundings.ended,
    surroundings.terminal,
    surroundings.late,
    surroundings.invalid_fields,
)
"""The causes, the first that applies explains; each is named in its docstring."""
