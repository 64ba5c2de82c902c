"""The table of causes: each row tells whether an exception has its cause, and then what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.frontends.causes import names, surroundings, variables
from mcpc.frontends.causes.model import FailedRun
from mcpc.frontends.causes.variables import VARIABLE, absent_text, give, variables_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.frontends.causes.model import Occasion, Raised
    from mcpc.reading import SourceTree


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
    variables.settings_class,
    variables.absent_key,
    variables.absent_value,
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
    variables.invalid_fields,
)
"""The causes, the first that applies explains; each is named in its docstring."""
