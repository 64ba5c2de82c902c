"""Automaton of a pattern: the places where a character is read, and in how many ways one can be read after another.

Two ways that read the same are two: this is what backtracking tries one after the other.  Rounds of a loop that read
nothing are as `re` takes them: one, and then the loop is left.  Look-aheads are read beside what follows them and lead
nowhere; whether they hold is not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcpc.schema.ecma.code_point_sets import WORD, complement, intersection
from mcpc.schema.ecma.tree import EMPTY, Assertion, Choice, Group, Look, Node, Reference, Repeat, Sequence, Set, nodes

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc.schema.ecma.code_point_sets import Ranges

Ways = dict[frozenset[str], int]
"""Under which conditions (`^`, `$`, `b`, `B`), in how many ways: one, or 2 for several."""
Places = dict[int, Ways]

MANY = 1_000_000
"""Where counting ways ends."""
MAX_PLACES, MAX_EDGES = 600, 20_000
ONE: Ways = {frozenset(): 1}


class TooLargeError(Exception):
    """The pattern has more places or edges than the limit."""


@dataclass(frozen=True, slots=True)
class AutomatonPart:
    """A part of a pattern: the places it may begin and end with, and the ways to read nothing."""

    first: Places
    last: Places
    empty: Ways


@dataclass(slots=True)
class Automaton:
    """`after[p]`: the places that may follow p, each with the number of ways; `start`: those a text may begin with.

    `restart` are those with which a match may begin later in a text.  `final` are those with which a match is complete
    on no condition; `finds_nothing`: whether the empty text is such a match.  `is_exact`: whether that is so of the
    pattern, too, and not only of one that finds more.
    """

    sets: list[Ranges] = field(default_factory=list)
    after: list[dict[int, int]] = field(default_factory=list)
    start: dict[int, int] = field(default_factory=dict)
    restart: dict[int, int] = field(default_factory=dict)
    final: frozenset[int] = frozenset()
    finds_nothing: bool = False
    is_exact: bool = False


def automaton(root: Node, copies: int, places: int = MAX_PLACES, edges: int = MAX_EDGES) -> Automaton:
    """Return the automaton of a pattern; what repeats more than `copies` times is taken to repeat without bound."""
    return AutomatonBuilder(root, copies, places, edges).build()


class AutomatonBuilder:
    """Makes parts out of nodes: the places of all of them, and what may follow what."""

    def __init__(self, root: Node, copies: int, places: int, edges: int) -> None:
        self.root = root
        self.copies = copies
        self.most_places, self.most_edges = places, edges
        self.groups = {node.number: node.item for node in nodes(root) if isinstance(node, Group)}
        self.has_boundaries = any(isinstance(node, Assertion) and node.kind in "bB" for node in nodes(root))
        self.sets: list[Ranges] = []
        self.is_word: list[bool] = []
        self.edges: list[Places] = []
        self.count = 0

    def build(self) -> Automaton:
        part = self.part_of(self.root)
        start = {place: self.number(ways, None, place) for place, ways in part.first.items()}
        restart = {place: self.number(ways, None, place, is_start=False) for place, ways in part.first.items()}
        after = [
            {place: self.number(ways, before, place) for place, ways in edges.items()}
            for before, edges in enumerate(self.edges)
        ]
        return Automaton(
            self.sets,
            [*map(_possible, after)],
            _possible(start),
            _possible(restart),
            frozenset(place for place, ways in part.last.items() if frozenset() in ways),
            frozenset() in part.empty,
            self.is_exact(part),
        )

    def is_exact(self, part: AutomatonPart) -> bool:
        r"""Tell whether nothing was left out or taken for more than it is; `part`: the whole pattern.

        What a later match begins behind is not known, so that a place that it begins with only on `\b` or `\B` is taken
        for more.
        """
        for ways in part.first.values():
            if not any(conditions.isdisjoint("bB") for conditions in ways):
                return False
        repeats = [node for node in nodes(self.root) if isinstance(node, Repeat)]
        is_copied = all(max(node.least, node.most or 0) <= self.copies for node in repeats)
        return is_copied and not any(isinstance(node, Look | Reference) for node in nodes(self.root))

    def number(self, ways: Ways, before: int | None, place: int, is_start: bool = True) -> int:
        """Return in how many of `ways` one may come from `before` (None: the start of a match) to `place`."""
        impossible = {"$"} if before is None and is_start else {"^", "$"}
        if before is not None or is_start:
            is_boundary = self.is_word[place] != (before is not None and self.is_word[before])
            impossible.add("B" if is_boundary else "b")
        return min(MANY, sum(number for conditions, number in ways.items() if not conditions & impossible))

    def part_of(self, node: Node) -> AutomatonPart:
        self.count_work(1)
        return _PARTS[type(node)](self, node)

    def sequence(self, node: Sequence) -> AutomatonPart:
        found = AutomatonPart({}, {}, ONE)
        for item in node.items:
            found = self.followed(found, self.part_of(item))
        return found

    def look(self, node: Look) -> AutomatonPart:
        """Return what looking ahead may read; nothing comes after it."""
        return AutomatonPart(self.part_of(node.item).first if node.is_ahead else {}, {}, ONE)

    def set(self, node: Set) -> AutomatonPart:
        """Return a place; if boundaries matter, one for what is in a word and one for what is not."""
        parts = [node.ranges]
        if self.has_boundaries:
            parts = [intersection(node.ranges, WORD), intersection(node.ranges, complement(WORD))]
        places: Places = {}
        for number, part in enumerate(parts):
            if part:
                places[len(self.sets)] = ONE
                self.sets.append(part)
                self.is_word.append(self.has_boundaries and number == 0)
                self.edges.append({})
        if len(self.sets) > self.most_places:
            raise TooLargeError
        return AutomatonPart(places, places, {})

    def followed(self, one: AutomatonPart, other: AutomatonPart) -> AutomatonPart:
        self.connect(one.last, other.first, ONE)
        first = _plus(one.first, _times(other.first, one.empty))
        last = _plus(other.last, _times(one.last, other.empty))
        return AutomatonPart(first, last, _product(one.empty, other.empty))

    def connect(self, last: Places, first: Places, between: Ways) -> None:
        self.count_work(len(last) * len(first))
        for before, ways in last.items():
            self.edges[before] = _plus(self.edges[before], _times(first, _product(ways, between)))

    def count_work(self, amount: int) -> None:
        self.count += amount
        if self.count > self.most_edges:
            raise TooLargeError

    def repeat(self, node: Repeat) -> AutomatonPart:
        if node.most == 0:
            return AutomatonPart({}, {}, ONE)
        is_bounded = node.most is not None and node.most <= self.copies
        is_counted = node.least <= self.copies
        found = AutomatonPart({}, {}, ONE)
        once = node.least if is_bounded else node.least - 1
        for _ in range(once if is_counted else 0):
            found = self.followed(found, self.part_of(node.item))
        if is_bounded:
            return self.followed(found, self.optional(node.item, (node.most or 0) - node.least))
        return self.followed(found, self.loop(node.item, is_optional=node.least == 0, is_counted=is_counted))

    def optional(self, item: Node, times: int) -> AutomatonPart:
        """Return `item` up to `times` times, each time only after the one before."""
        found = AutomatonPart({}, {}, ONE)
        for _ in range(times):
            found = self.followed(self.part_of(item), found)
            found = AutomatonPart(found.first, found.last, _sum(ONE, found.empty))
        return found

    def reference(self, node: Reference) -> AutomatonPart:
        """Return what the group reads, wherever it stands; it may have matched nothing."""
        part = self.part_of(_bare(self.groups[node.number]))
        return AutomatonPart(part.first, part.last, _sum(part.empty, ONE))

    def loop(self, item: Node, is_optional: bool, is_counted: bool) -> AutomatonPart:
        """Return `item` any number of times.  If rounds are counted off, empty ones may stand between others."""
        part = self.part_of(item)
        between = ONE if is_counted else _sum(ONE, part.empty)
        self.connect(part.last, part.first, between)
        with_empty_round = _sum(ONE, part.empty)
        last = _times(part.last, with_empty_round)
        if is_optional:
            return AutomatonPart(part.first, last, with_empty_round)
        return AutomatonPart(_times(part.first, with_empty_round), last, part.empty)


def _bare(node: Node) -> Node:
    """Return `node` without what reads nothing."""
    match node:
        case Assertion() | Look():
            return EMPTY
        case Sequence():
            return Sequence(tuple(map(_bare, node.items)))
        case Choice():
            return Choice(tuple(map(_bare, node.branches)))
        case Repeat() | Group():
            return replace(node, item=_bare(node.item))
        case _:
            return node


_PARTS: dict[type[Node], Callable[[AutomatonBuilder, Any], AutomatonPart]] = {
    Set: AutomatonBuilder.set,
    Sequence: AutomatonBuilder.sequence,
    Choice: lambda builder, node: _either([builder.part_of(branch) for branch in node.branches]),
    Repeat: lambda builder, node: builder.repeat(node),
    Group: lambda builder, node: builder.part_of(node.item),
    Look: lambda builder, node: builder.look(node),
    Assertion: lambda _, node: AutomatonPart({}, {}, {frozenset(node.kind): 1}),
    Reference: lambda builder, node: builder.reference(node),
}


def _possible(places: dict[int, int]) -> dict[int, int]:
    return {place: number for place, number in places.items() if number}


def _either(parts: list[AutomatonPart]) -> AutomatonPart:
    first: Places = {}
    last: Places = {}
    empty: Ways = {}
    for part in parts:
        first, last, empty = _plus(first, part.first), _plus(last, part.last), _sum(empty, part.empty)
    return AutomatonPart(first, last, empty)


def _sum(one: Ways, other: Ways) -> Ways:
    return {key: min(MANY, one.get(key, 0) + other.get(key, 0)) for key in {**one, **other}}


def _product(one: Ways, other: Ways) -> Ways:
    if one is ONE:
        return other
    found: Ways = {}
    for key, number in one.items():
        for other_key, other_number in other.items():
            both = key | other_key
            found[both] = min(MANY, found.get(both, 0) + number * other_number)
    return found


def _plus(one: Places, other: Places) -> Places:
    if not one or not other:
        return one or other
    found = dict(one)
    for place, ways in other.items():
        found[place] = _sum(found[place], ways) if place in found else ways
    return found


def _times(places: Places, ways: Ways) -> Places:
    if ways is ONE:
        return places
    return {place: _product(before, ways) for place, before in places.items()} if ways else {}
