"""Numbers and texts that satisfy the atoms of a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.release.subsumption.branches import exact
from mcpc.release.subsumption.numbers import MoreNumbersError, NumberSet, numbers_of
from mcpc.release.subsumption.patterns import TextSet
from mcpc.release.subsumption.search import NOTHING, Solutions, value_key
from mcpc.release.subsumption.strings import StringConstraints, strings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from mcpc.release.subsumption.branches import Atom
    from mcpc.release.subsumption.search import Search

    Json = Any

BOUNDS: dict[tuple[str, bool], tuple[bool, bool]] = {
    ("minimum", True): (True, False),
    ("exclusiveMinimum", True): (True, True),
    ("maximum", True): (False, False),
    ("exclusiveMaximum", True): (False, True),
    ("minimum", False): (False, True),
    ("exclusiveMinimum", False): (False, False),
    ("maximum", False): (True, True),
    ("exclusiveMaximum", False): (True, False),
}
"""By a keyword, and whether it holds: whether the number is above the bound, and whether it is not the bound itself."""


def number_set(atoms: Sequence[Atom]) -> NumberSet:
    """Return the numbers that satisfy atoms."""
    found = NumberSet()
    multiples: list[Fraction] = []
    others: list[Fraction] = []
    for atom in atoms:
        if (atom.name, atom.holds) in BOUNDS:
            is_above, is_open = BOUNDS[atom.name, atom.holds]
            narrowed: Callable[..., NumberSet] = found.above if is_above else found.below
            found = narrowed(exact(atom.value), is_open=is_open)
        elif atom.name == "multipleOf":
            (multiples if atom.holds else others).append(exact(atom.value))
    return NumberSet(found.low, found.high, found.low_open, found.high_open, tuple(multiples), tuple(others))


def numbers(_search: Search, atoms: Sequence[Atom], count: int, excluded: frozenset[str]) -> Solutions:
    """Return numbers that satisfy atoms."""
    found: list[Json] = []
    is_complete = True
    try:
        for number in numbers_of(number_set(atoms)):
            value: Json = number.numerator if number.denominator == 1 else float(number)
            if number.denominator > 1 and exact(value) != number:
                is_complete = False
            elif value_key(value) not in excluded:
                found.append(value)
            if len(found) >= count:
                return Solutions(found, False)
    except (MoreNumbersError, OverflowError):
        return Solutions(found, False)
    return Solutions(found, is_complete)


def texts(search: Search, atoms: Sequence[Atom], count: int, excluded: frozenset[str]) -> Solutions:
    """Return texts that satisfy atoms."""
    least, most = 0, None
    rows: dict[tuple[str, bool], set[str]] = {}
    for atom in atoms:
        if atom.name in ("minLength", "maxLength"):
            is_least = (atom.name == "minLength") is atom.holds
            bound = int(atom.value) + (0 if atom.holds else 1 if is_least else -1)
            least = max(least, bound) if is_least else least
            most = bound if not is_least and (most is None or bound < most) else most
        elif atom.name in ("pattern", "format"):
            rows.setdefault((atom.name, atom.holds), set()).add(atom.value)
    if most is not None and most < least:
        return NOTHING
    matching, others = (tuple(sorted(rows.get(("pattern", holds), ()))) for holds in (True, False))
    formats, other_formats = (frozenset(rows.get(("format", holds), ())) for holds in (True, False))
    wanted = StringConstraints(TextSet(matching, others, least, most), formats, other_formats, excluded)
    found, is_complete = strings_of(wanted, count, search.spend)
    if not found and not is_complete:
        search.note("patterns and formats cannot be compared")
    return Solutions([*found], is_complete)
