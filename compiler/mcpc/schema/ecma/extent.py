"""Extent of a match: how long it may be, whether it may be empty, begins or ends only where the text does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.ecma.tree import Assertion, Choice, Group, Look, Node, Reference, Repeat, Sequence, Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

MAX_CHARACTERS = 1_000
"""A bound above this is worth nothing."""


def longest(node: Node) -> int | None:
    """Return how long a match may be; None if there is no bound, or none that is worth anything."""
    return _LONGEST[type(node)](node)


def _longest_repeat(node: Repeat) -> int | None:
    item = longest(node.item)
    return None if item is None or node.most is None else _bounded(item * node.most)


_LONGEST: dict[type[Node], Callable[[Any], int | None]] = {
    Set: lambda _: 1,
    Sequence: lambda node: _of(sum, map(longest, node.items)),
    Choice: lambda node: _of(max, map(longest, node.branches)),
    Repeat: _longest_repeat,
    Group: lambda node: longest(node.item),
    Look: lambda _: 0,
    Assertion: lambda _: 0,
    Reference: lambda _: None,
}


def _of(made: Callable[[list[int]], int], lengths: Iterable[int | None]) -> int | None:
    found = list(lengths)
    known = [length for length in found if length is not None]
    return _bounded(made([0, *known])) if len(known) == len(found) else None


def _bounded(length: int) -> int | None:
    return length if length <= MAX_CHARACTERS else None


def can_be_empty(node: Node) -> bool:
    """Tell whether a match may be the empty text, if only at some places of a text."""
    match node:
        case Set():
            return False
        case Group():
            return can_be_empty(node.item)
        case Choice():
            return any(map(can_be_empty, node.branches))
        case Sequence():
            return all(map(can_be_empty, node.items))
        case Repeat():
            return node.least == 0 or can_be_empty(node.item)
        case _:
            return True


def ends_the_text(node: Node) -> bool:
    """Tell whether a match can end only where the text does."""
    match node:
        case Assertion():
            return node.kind == "$"
        case Group():
            return ends_the_text(node.item)
        case Choice():
            return all(map(ends_the_text, node.branches))
        case Sequence():
            return bool(node.items) and ends_the_text(node.items[-1])
        case _:
            return False


def begins_the_text(node: Node) -> bool:
    """Tell whether a match can begin only where the text does."""
    match node:
        case Assertion():
            return node.kind == "^"
        case Group():
            return begins_the_text(node.item)
        case Choice():
            return all(map(begins_the_text, node.branches))
        case Sequence():
            return bool(node.items) and begins_the_text(node.items[0])
        case _:
            return False
