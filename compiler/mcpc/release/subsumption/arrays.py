"""Arrays that satisfy the atoms of a branch: lengths, then positions of what must be somewhere, then the items.

All positions behind the longest prefix are alike, so that arrays of a few more items than have to differ stand for all
longer ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from mcpc.release.subsumption.branches import Demand
from mcpc.release.subsumption.search import NOTHING, UNKNOWN, BudgetError, Solutions, value_key, value_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.release.subsumption.branches import Atom
    from mcpc.release.subsumption.nodes import SchemaNode
    from mcpc.release.subsumption.search import Search
    from mcpc.release.subsumption.structures import ArrayKeywords

    Json = Any

MAX_LENGTH = 200


@dataclass(slots=True)
class ArrayConstraints:
    """What a branch demands of an array; `fixed` and `later`: items that do not match a schema, and where they are."""

    least: int = 0
    most: int | None = None
    is_unique: bool = False
    has_equal_items: bool = False
    shapes: list[ArrayKeywords] = field(default_factory=list)
    fixed: list[tuple[int, SchemaNode]] = field(default_factory=list)
    later: list[tuple[int, SchemaNode]] = field(default_factory=list)
    contained: list[tuple[SchemaNode, int, int | None]] = field(default_factory=list)

    def add(self, atom: Atom) -> None:
        """Add an atom; a bound that does not hold is the other bound beside it."""
        if atom.name in ("minItems", "maxItems"):
            if (atom.name == "minItems") is atom.holds:
                self.least = max(self.least, int(atom.value) + (not atom.holds))
            else:
                bound = int(atom.value) - (not atom.holds)
                self.most = bound if self.most is None else min(self.most, bound)
        elif atom.name == "uniqueItems":
            self.is_unique, self.has_equal_items = self.is_unique or atom.holds, self.has_equal_items or not atom.holds
        else:
            rows: dict[str, list[Any]] = {
                "array shape": self.shapes,
                "item": self.fixed,
                "later item": self.later,
                "contains": self.contained,
            }
            rows.get(atom.name, []).append(atom.value)

    @property
    def prefix(self) -> int:
        """The number of positions that may differ from others."""
        starts = [start for start, _ in (*self.fixed, *self.later)]
        return max([0, *(len(shape.prefix) for shape in self.shapes), *starts])

    @property
    def obligations(self) -> int:
        """The number of items that have to be somewhere."""
        contained = sum(least + (most is not None) for _, least, most in self.contained)
        return len(self.fixed) + len(self.later) + contained + 2 * self.has_equal_items


Extras = dict[int, list[Demand]]


def arrays(search: Search, atoms: Sequence[Atom], count: int, excluded: frozenset[str]) -> Solutions:
    """Return arrays that satisfy atoms."""
    wanted = ArrayConstraints()
    for atom in atoms:
        wanted.add(atom)
    is_short = wanted.most is not None and wanted.most < wanted.least
    if is_short or (wanted.is_unique and wanted.has_equal_items):
        return NOTHING
    last = max(wanted.least, wanted.prefix + wanted.obligations) + len(excluded)
    last = last if wanted.most is None else min(last, wanted.most)
    if last > MAX_LENGTH:
        raise BudgetError(f"arrays of more than {MAX_LENGTH} items")
    found: list[Json] = []
    is_complete = True
    for length in range(wanted.least, last + 1):
        for extras, twins in _placements(wanted, length):
            search.spend(1)
            filled = _filled(search, wanted, length, (extras, twins))
            found += [value for value in filled.values if value_key(value) not in excluded]
            is_complete = is_complete and filled.is_complete
            if len(found) >= count:
                return Solutions(found, False)
    return Solutions(found, is_complete)


def _placements(wanted: ArrayConstraints, length: int) -> Iterator[tuple[Extras, tuple[int, int] | None]]:
    """Yield the ways to place what must be somewhere; the last: two positions with the same value."""
    window = min(length, wanted.prefix + wanted.obligations)
    if any(at >= length for at, _ in wanted.fixed):
        return
    later = [range(start, window) for start, _ in wanted.later]
    contained = [[*_subsets(window, least, most)] for _, least, most in wanted.contained]
    twins: list[tuple[int, int] | None] = [*combinations(range(window), 2)] if wanted.has_equal_items else [None]
    for positions, subsets, pair in product(product(*later), product(*contained), twins):
        extras: Extras = {}
        for at, node in (*wanted.fixed, *zip(positions, (node for _, node in wanted.later), strict=True)):
            extras.setdefault(at, []).append(Demand(node, False))
        for (node, _, most), chosen in zip(wanted.contained, subsets, strict=True):
            for at in range(length):
                if at in chosen or most is not None:
                    extras.setdefault(at, []).append(Demand(node, at in chosen))
        yield extras, pair


def _subsets(window: int, least: int, most: int | None) -> Iterator[tuple[int, ...]]:
    """Yield the positions of the items that a schema accepts; without a maximum, others may be accepted, too."""
    for size in range(least, (least if most is None else min(most, window)) + 1):
        yield from combinations(range(window), size)


def _filled(
    search: Search, wanted: ArrayConstraints, length: int, placed: tuple[Extras, tuple[int, int] | None]
) -> Solutions:
    """Return an array of this length, if each position has a value."""
    extras, twins = placed
    goals = [_goal(wanted, at, extras) for at in range(length)]
    if twins is not None:
        goals[twins[0]] += goals[twins[1]]
    values: list[Json] = []
    for at, goal in enumerate(goals):
        if twins is not None and at == twins[1]:
            values.append(values[twins[0]])
            continue
        used = value_keys(values) if wanted.is_unique else frozenset[str]()
        found = search.find(goal, 1, used)
        if not found.values:
            is_proof = found.is_complete and (not used or len({*goals}) == 1 or search.find(goal) == NOTHING)
            return NOTHING if is_proof else UNKNOWN
        values.append(found.values[0])
    return Solutions([values], False)


def _goal(wanted: ArrayConstraints, at: int, extras: Extras) -> tuple[Demand, ...]:
    nodes = [shape.node_at(at) for shape in wanted.shapes]
    return (*(Demand(node, True) for node in nodes if node is not None), *extras.get(at, ()))
