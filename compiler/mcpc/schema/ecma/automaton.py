"""Position automaton (Glushkov) of a pattern: a state for each set of characters that is matched, and transitions.

A transition has the number of paths that lead along it, because backtracking tries one path after the other, even if
they match the same text.  Empty iterations of a loop are as in `re`: one, after which the loop is left.  Lookaheads are
parallel branches without an end; whether they hold is not decided here.
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

Paths = dict[frozenset[str], int]
"""The number of paths (1, or more for several) by the assertions (`^`, `$`, `b`, `B`) that must hold on them."""
States = dict[int, Paths]

MANY = 1_000_000
"""The number of paths is counted up to this maximum."""
MAX_STATES, MAX_TRANSITIONS = 600, 20_000
ONE: Paths = {frozenset(): 1}


class TooLargeError(Exception):
    """The automaton has more states or transitions than the limit."""


@dataclass(frozen=True, slots=True)
class AutomatonPart:
    """The automaton of a part of a pattern: its first and last states, and the paths that match the empty text."""

    first: States
    last: States
    empty: Paths


@dataclass(slots=True)
class Automaton:
    """An automaton without conditions.

    `after[p]`: the states that may follow the state p, each with the number of paths.  `start`: the first states of a
    match at the beginning of the text, `restart`: of a later match.  `final`: the states with which a match is complete
    unconditionally; `finds_nothing`: whether the empty text is a match.  `is_exact`: whether the automaton matches the
    same texts as the pattern; otherwise it matches more.
    """

    sets: list[Ranges] = field(default_factory=list)
    after: list[dict[int, int]] = field(default_factory=list)
    start: dict[int, int] = field(default_factory=dict)
    restart: dict[int, int] = field(default_factory=dict)
    final: frozenset[int] = frozenset()
    finds_nothing: bool = False
    is_exact: bool = False


def automaton(root: Node, copies: int, states: int = MAX_STATES, transitions: int = MAX_TRANSITIONS) -> Automaton:
    """Return the automaton of a pattern; a quantifier above `copies` is treated as unbounded."""
    return AutomatonBuilder(root, copies, states, transitions).build()


class AutomatonBuilder:
    """Builds the automaton of a syntax tree from those of its nodes."""

    def __init__(self, root: Node, copies: int, states: int, transitions: int) -> None:
        self.root = root
        self.copies = copies
        self.max_states, self.max_transitions = states, transitions
        self.groups = {node.number: node.item for node in nodes(root) if isinstance(node, Group)}
        self.has_boundaries = any(isinstance(node, Assertion) and node.kind in "bB" for node in nodes(root))
        self.sets: list[Ranges] = []
        self.is_word: list[bool] = []
        self.transitions: list[States] = []
        self.count = 0

    def build(self) -> Automaton:
        part = self.part_of(self.root)
        start = {state: self.count_paths(paths, None, state) for state, paths in part.first.items()}
        restart = {state: self.count_paths(paths, None, state, is_start=False) for state, paths in part.first.items()}
        after = [
            {state: self.count_paths(paths, before, state) for state, paths in transitions.items()}
            for before, transitions in enumerate(self.transitions)
        ]
        return Automaton(
            self.sets,
            [*map(_nonzero, after)],
            _nonzero(start),
            _nonzero(restart),
            frozenset(state for state, paths in part.last.items() if frozenset() in paths),
            frozenset() in part.empty,
            self.is_exact(part),
        )

    def is_exact(self, part: AutomatonPart) -> bool:
        r"""Tell whether the automaton matches the same texts as the pattern; `part`: the whole pattern.

        The character before a later match is unknown, so that the automaton is inexact if a first state requires `\b`
        or `\B`.
        """
        for paths in part.first.values():
            if not any(conditions.isdisjoint("bB") for conditions in paths):
                return False
        repeats = [node for node in nodes(self.root) if isinstance(node, Repeat)]
        is_copied = all(max(node.least, node.most or 0) <= self.copies for node in repeats)
        return is_copied and not any(isinstance(node, Look | Reference) for node in nodes(self.root))

    def count_paths(self, paths: Paths, before: int | None, state: int, is_start: bool = True) -> int:
        """Return the number of `paths` from `before` (None: the start of a match) to `state`."""
        # A state reads a character, so that `$` cannot hold before it, and `^` only where the text starts.
        impossible = {"$"} if before is None and is_start else {"^", "$"}
        if before is not None or is_start:
            is_boundary = self.is_word[state] != (before is not None and self.is_word[before])
            impossible.add("B" if is_boundary else "b")
        return min(MANY, sum(number for conditions, number in paths.items() if not conditions & impossible))

    def part_of(self, node: Node) -> AutomatonPart:
        self.count_work(1)
        return _PARTS[type(node)](self, node)

    def sequence(self, node: Sequence) -> AutomatonPart:
        part = AutomatonPart({}, {}, ONE)
        for item in node.items:
            part = self.concatenated(part, self.part_of(item))
        return part

    def look(self, node: Look) -> AutomatonPart:
        """Return the automaton of a lookahead, which nothing follows."""
        return AutomatonPart(self.part_of(node.item).first if node.is_ahead else {}, {}, ONE)

    def set(self, node: Set) -> AutomatonPart:
        """Return a state; if word boundaries matter, one for word characters and one for the others."""
        parts = [node.ranges]
        if self.has_boundaries:
            parts = [intersection(node.ranges, WORD), intersection(node.ranges, complement(WORD))]
        states: States = {}
        for number, part in enumerate(parts):
            if part:
                states[len(self.sets)] = ONE
                self.sets.append(part)
                self.is_word.append(self.has_boundaries and number == 0)
                self.transitions.append({})
        if len(self.sets) > self.max_states:
            raise TooLargeError
        return AutomatonPart(states, states, {})

    def concatenated(self, one: AutomatonPart, other: AutomatonPart) -> AutomatonPart:
        self.connect(one.last, other.first, ONE)
        first = _plus(one.first, _times(other.first, one.empty))
        last = _plus(other.last, _times(one.last, other.empty))
        return AutomatonPart(first, last, _product(one.empty, other.empty))

    def connect(self, last: States, first: States, between: Paths) -> None:
        self.count_work(len(last) * len(first))
        for before, paths in last.items():
            self.transitions[before] = _plus(self.transitions[before], _times(first, _product(paths, between)))

    def count_work(self, amount: int) -> None:
        self.count += amount
        if self.count > self.max_transitions:
            raise TooLargeError

    def repeat(self, node: Repeat) -> AutomatonPart:
        if node.most == 0:
            return AutomatonPart({}, {}, ONE)
        is_bounded = node.most is not None and node.most <= self.copies
        is_counted = node.least <= self.copies
        part = AutomatonPart({}, {}, ONE)
        # An unbounded loop is one of the iterations itself.
        once = node.least if is_bounded else node.least - 1
        for _ in range(once if is_counted else 0):
            part = self.concatenated(part, self.part_of(node.item))
        if is_bounded:
            return self.concatenated(part, self.optional(node.item, (node.most or 0) - node.least))
        return self.concatenated(part, self.loop(node.item, is_optional=node.least == 0, is_counted=is_counted))

    def optional(self, item: Node, times: int) -> AutomatonPart:
        """Return `item` up to `times` times; each iteration follows the one before."""
        part = AutomatonPart({}, {}, ONE)
        for _ in range(times):
            part = self.concatenated(self.part_of(item), part)
            part = AutomatonPart(part.first, part.last, _sum(ONE, part.empty))
        return part

    def reference(self, node: Reference) -> AutomatonPart:
        """Return the automaton of the group without its assertions; the group may not have matched."""
        part = self.part_of(_without_assertions(self.groups[node.number]))
        return AutomatonPart(part.first, part.last, _sum(part.empty, ONE))

    def loop(self, item: Node, is_optional: bool, is_counted: bool) -> AutomatonPart:
        """Return `item` any number of times; in a counted loop, empty iterations may stand between others."""
        part = self.part_of(item)
        between = ONE if is_counted else _sum(ONE, part.empty)
        self.connect(part.last, part.first, between)
        with_empty_round = _sum(ONE, part.empty)
        last = _times(part.last, with_empty_round)
        if is_optional:
            return AutomatonPart(part.first, last, with_empty_round)
        return AutomatonPart(_times(part.first, with_empty_round), last, part.empty)


def _without_assertions(node: Node) -> Node:
    """Return `node` without assertions and lookarounds."""
    match node:
        case Assertion() | Look():
            return EMPTY
        case Sequence():
            return Sequence(tuple(map(_without_assertions, node.items)))
        case Choice():
            return Choice(tuple(map(_without_assertions, node.branches)))
        case Repeat() | Group():
            return replace(node, item=_without_assertions(node.item))
        case _:
            return node


_PARTS: dict[type[Node], Callable[[AutomatonBuilder, Any], AutomatonPart]] = {
    Set: AutomatonBuilder.set,
    Sequence: AutomatonBuilder.sequence,
    Choice: lambda builder, node: _disjunction([builder.part_of(branch) for branch in node.branches]),
    Repeat: lambda builder, node: builder.repeat(node),
    Group: lambda builder, node: builder.part_of(node.item),
    Look: lambda builder, node: builder.look(node),
    Assertion: lambda _, node: AutomatonPart({}, {}, {frozenset(node.kind): 1}),
    Reference: lambda builder, node: builder.reference(node),
}


def _nonzero(states: dict[int, int]) -> dict[int, int]:
    return {state: number for state, number in states.items() if number}


def _disjunction(parts: list[AutomatonPart]) -> AutomatonPart:
    first: States = {}
    last: States = {}
    empty: Paths = {}
    for part in parts:
        first, last, empty = _plus(first, part.first), _plus(last, part.last), _sum(empty, part.empty)
    return AutomatonPart(first, last, empty)


def _sum(one: Paths, other: Paths) -> Paths:
    return {key: min(MANY, one.get(key, 0) + other.get(key, 0)) for key in {**one, **other}}


def _product(one: Paths, other: Paths) -> Paths:
    if one is ONE:
        return other
    product: Paths = {}
    for key, number in one.items():
        for other_key, other_number in other.items():
            both = key | other_key
            product[both] = min(MANY, product.get(both, 0) + number * other_number)
    return product


def _plus(one: States, other: States) -> States:
    if not one or not other:
        return one or other
    total = dict(one)
    for state, paths in other.items():
        total[state] = _sum(total[state], paths) if state in total else paths
    return total


def _times(states: States, paths: Paths) -> States:
    if paths is ONE:
        return states
    return {state: _product(before, paths) for state, before in states.items()} if paths else {}
