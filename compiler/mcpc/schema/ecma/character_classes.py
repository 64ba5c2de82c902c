"""Classes of characters that no set of a pattern tells apart: a few, however many characters there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.schema.ecma.code_point_sets import Ranges


@dataclass(frozen=True, slots=True)
class Classes:
    """The code points from `starts[n]` on, up to the next start, are of the class `numbers[n]`.

    `members[c]` are the sets that hold the characters of the class c, a bit each.
    """

    starts: tuple[int, ...]
    numbers: tuple[int, ...]
    members: tuple[int, ...]


def classes(sets: Sequence[Ranges]) -> Classes:
    """Return the classes of characters, numbered in the order of their first code points."""
    changes: dict[int, int] = {0: 0}
    for number, ranges in enumerate(sets):
        for first, last in ranges:
            changes[first] = changes.get(first, 0) ^ 1 << number
            changes[last + 1] = changes.get(last + 1, 0) ^ 1 << number
    known: dict[int, int] = {}
    starts: list[int] = []
    numbers: list[int] = []
    members = 0
    for point in sorted(changes):
        members ^= changes[point]
        number = known.setdefault(members, len(known))
        if not numbers or numbers[-1] != number:
            starts.append(point)
            numbers.append(number)
    return Classes(tuple(starts), tuple(numbers), tuple(known))
