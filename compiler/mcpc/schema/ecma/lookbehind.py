"""Rewriting of lookbehinds to those that Python supports: each has a single width.

A lookbehind with several widths becomes one for each width.  Its leftmost repetition is reduced to the minimum: a text
that ends with more iterations also ends with fewer.

    (?<=a+b?)c     (?:(?<=a)|(?<=ab))c
    (?<!a+b?)c     (?<!a)(?<!ab)c
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.schema.ecma.tree import (
    EMPTY,
    Assertion,
    Choice,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
    Set,
    choice,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


MAX_BRANCHES = 64
"""Maximum number of alternatives, including nested ones."""

ByWidth = dict[int, tuple[Node, int]]
"""The node for each width, and its number of alternatives."""
NOTHING_YET: ByWidth = {0: (EMPTY, 1)}


class LookBehindError(ValueError):
    """A lookbehind cannot be compiled; the message says why."""


def fixed_width(look: Look) -> Node:
    """Return the equivalent of the lookbehind `look` with fixed widths."""
    by_width = _by_width(_trimmed(look.item))
    branches: list[Node] = [replace(look, item=by_width[width][0]) for width in sorted(by_width)]
    if look.is_positive:
        return choice(branches) if branches else Set(())
    # None of the alternatives may stand before, so each of them is refused.
    return sequence(branches) if branches else EMPTY


def _trimmed(node: Node) -> Node:
    """Return `node` with its leftmost repetitions reduced to the minimum."""
    match node:
        case Group():
            return _trimmed(node.item)
        case Choice():
            return Choice(tuple(map(_trimmed, node.branches)))
        case Repeat():
            # Only the end of what stands before counts: without the first rounds it matches, too.
            return Repeat(node.item, node.least, node.least) if node.least else EMPTY
        case Sequence() if node.items:
            first = _trimmed(node.items[0])
            rest = Sequence(node.items[1:])
            return _trimmed(rest) if first == EMPTY else Sequence((first, *rest.items))
        case _:
            return node


def _by_width(node: Node) -> ByWidth:
    match node:
        case Set():
            return {1: (node, 1)} if node.ranges else {}
        case Group():
            return _by_width(node.item)
        case Choice():
            return _merged_widths([_by_width(branch) for branch in node.branches])
        case Sequence():
            widths = NOTHING_YET
            for item in node.items:
                widths = _concatenated_widths(widths, _by_width(item))
            return widths
        case Repeat():
            return _repeated(node, _by_width(node.item))
        case _:
            return {0: (node, 1)}


def _repeated(node: Repeat, widths: ByWidth) -> ByWidth:
    # All rounds have the same width, so that the quantifier can stay.
    if len(widths) == 1 and node.least == node.most:
        return {width * node.least: (replace(node, item=item), size) for width, (item, size) in widths.items()}
    if node.most is None:
        raise LookBehindError("a look-behind can be compiled only if what it looks for has a greatest length")
    # Refused before so many rounds are put together.
    if node.most > MAX_BRANCHES:
        raise LookBehindError("a look-behind has too many lengths")
    repetitions: list[ByWidth] = []
    times = NOTHING_YET
    for count in range(node.most + 1):
        if count >= node.least:
            repetitions.append(times)
        times = _concatenated_widths(times, widths)
    return _merged_widths(repetitions)


def _concatenated_widths(one: ByWidth, other: ByWidth) -> ByWidth:
    return _merged_widths(
        [
            {first + last: (_concatenated(node, after), size * more)}
            for first, (node, size) in one.items()
            for last, (after, more) in other.items()
        ]
    )


def _concatenated(one: Node, other: Node) -> Node:
    return other if one == EMPTY else one if other == EMPTY else Sequence((one, other))


def _merged_widths(parts: list[ByWidth]) -> ByWidth:
    by_width: dict[int, list[tuple[Node, int]]] = {}
    for part in parts:
        for width, row in part.items():
            by_width.setdefault(width, []).append(row)
    if sum(size for rows in by_width.values() for _, size in rows) > MAX_BRANCHES:
        raise LookBehindError("a look-behind has too many lengths")
    return {
        width: (choice([node for node, _ in rows]), sum(size for _, size in rows)) for width, rows in by_width.items()
    }


MAX_CHARACTERS = 1_000
"""Greater bounds are not useful."""


def longest(node: Node) -> int | None:
    """Return the maximum length of a match; None if there is no useful bound."""
    return _LONGEST[type(node)](node)


def _longest_repeat(node: Repeat) -> int | None:
    item = longest(node.item)
    return None if item is None or node.most is None else _bounded(item * node.most)


_LONGEST: dict[type[Node], Callable[[Any], int | None]] = {
    Set: lambda _: 1,
    Sequence: lambda node: _combined(sum, map(longest, node.items)),
    Choice: lambda node: _combined(max, map(longest, node.branches)),
    Repeat: _longest_repeat,
    Group: lambda node: longest(node.item),
    Look: lambda _: 0,
    Assertion: lambda _: 0,
    Reference: lambda _: None,
}


def _combined(combine: Callable[[list[int]], int], lengths: Iterable[int | None]) -> int | None:
    lengths_given = list(lengths)
    known = [length for length in lengths_given if length is not None]
    return _bounded(combine([0, *known])) if len(known) == len(lengths_given) else None


def _bounded(length: int) -> int | None:
    return length if length <= MAX_CHARACTERS else None


def can_be_empty(node: Node) -> bool:
    """Tell whether a match can be empty, at least at some positions of a text."""
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
