"""Tables of a matcher that takes linear time, for patterns on which `re` may not.

By `re` alone if this is proved to take linear time.  Otherwise `re` matches short texts, and a matcher that takes
linear time longer ones; if there is no such matcher, longer texts are refused.

`mcpc_runtime.protocol.validation.patterns` runs them.

They contain the pattern's automaton for a matcher that reads a text from its end: at each state the result of every
lookahead for the rest of the text is known then.  A condition is `^`, `$`, `b` or `B`, or the number of a lookahead
that must match, counted from 1, negative if it must not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.schema.ecma.automaton import AutomatonBuilder, AutomatonPart, Paths, TooLargeError
from mcpc.schema.ecma.code_point_sets import WORD, classes
from mcpc.schema.ecma.lookbehind import begins_the_text, ends_the_text, longest
from mcpc.schema.ecma.paths import is_linear, lookbehind_steps, safe_steps
from mcpc.schema.ecma.translation import literal_first, parse, translate, trimmed
from mcpc.schema.ecma.tree import Repeat, Set, nodes, write_pattern

if TYPE_CHECKING:
    from mcpc.schema.ecma.tree import Look, Node, Reference

OF_RE, OF_MATCHERS = 500_000, 1_000_000
"""Steps of some ten nanoseconds that guarded patterns may take for one value, in either matcher: 15 milliseconds."""
FUND = OF_RE + OF_MATCHERS
STEPS_OF_RE = 10
"""Maximum cost of one step of a path: that of groups in loops."""
SURELY = OF_MATCHERS // 10
"""A single text of this length is within the fund, unless it is constructed to need many states."""


@dataclass(frozen=True, slots=True)
class PatternGuard:
    """Limits of a search: `re` matches texts of up to `length` characters, a matcher with a `table` longer ones.

    `costs`: the steps that count for a text, by the number of bits of its length; `most`: the maximum length of a text.
    """

    length: int
    costs: tuple[int, ...]
    table: Table | None
    most: int


@dataclass(frozen=True, slots=True)
class PatternSearch:
    """A pattern for `re`, and where it is searched: in the whole text, or only at its beginning or `end`.

    `end`: the number of characters; 0 if a match may end anywhere.  `guard`: the limits of its time; None if it is
    linear.
    """

    text: str
    is_at_beginning: bool
    end: int
    guard: PatternGuard | None


@lru_cache(maxsize=4096)
def searching(pattern: str) -> PatternSearch:
    """Return how an ECMA-262 pattern is searched; raise PatternError if it cannot be compiled."""
    # For the errors that it raises.
    translate(pattern)
    root = trimmed(parse(pattern))
    if begins_the_text(root):
        return PatternSearch(write_pattern(root), True, 0, guard_of(root))
    end = longest(root) if ends_the_text(root) else None
    return PatternSearch(write_pattern(literal_first(root) if end is None else root), False, end or 0, guard_of(root))


def guard_of(root: Node) -> PatternGuard | None:
    """Return the limits of a search, None if none are needed."""
    if is_linear(root):
        return None
    each = lookbehind_steps(root)
    if each:
        length = OF_RE // each
        # Of all lengths with the same number of bits, the greatest counts.
        costs = tuple(each * min((1 << number) - 1, length) for number in range(length.bit_length() + 1))
        return PatternGuard(length, costs, None, length)
    steps = safe_steps(root, OF_RE // STEPS_OF_RE)
    length = max(len(steps) - 1, 0)
    bits = range(length.bit_length() + 1) if steps else ()
    costs = tuple(STEPS_OF_RE * steps[min((1 << number) - 1, length)] for number in bits)
    rows = table(root)
    # With a length of -1 `re` is given no text at all.
    return PatternGuard(length if steps else -1, costs, rows, max(length, SURELY if rows else 0))


MAX_STATES, MAX_TRANSITIONS = 600, 40_000
EVERY_COPY = 1_000
"""Maximum of a quantifier: more copies have more states than the limit."""
MAX_CONDITIONS = 8
"""Maximum number of alternative conditions of one transition."""

Condition = str | int
Conditions = tuple[Condition, ...]
Row = tuple[int, Conditions]
"""States as bits, and the conditions of the transitions to them."""
Goal = tuple[tuple[Row, ...], tuple[Conditions, ...]]
"""The first states of a match, and the conditions under which the empty text is one."""
Table = tuple[
    tuple[int, ...],
    tuple[int, ...],
    tuple[int, ...],
    tuple[bool, ...],
    tuple[tuple[Row, ...], ...],
    tuple[tuple[Conditions, ...], ...],
    tuple[Goal, ...],
    bool,
]
"""Starts and classes of the ranges of characters; for each class the states that match it, and whether it is part of
words; for each state its transitions, and the conditions under which a match ends there; the goal of each lookahead,
and last that of the pattern; whether matches end only at the end of the text.
"""


class IrregularError(Exception):
    """The pattern has backreferences or lookbehinds."""


@lru_cache(maxsize=64)
def table(root: Node) -> Table | None:
    """Return the tables of a pattern; None if it is not regular, or they would be too large."""
    try:
        return _Tables(root, EVERY_COPY, MAX_STATES, MAX_TRANSITIONS).table()
    except (TooLargeError, IrregularError):
        return None


class _Tables(AutomatonBuilder):
    """Builds one automaton of a pattern and of its lookaheads."""

    def __init__(self, root: Node, copies: int, states: int, transitions: int) -> None:
        super().__init__(root, copies, states, transitions)
        self.parts: list[AutomatonPart] = []

    def look(self, node: Look) -> AutomatonPart:
        """Return an automaton that matches the empty text, on the condition that the lookahead matches."""
        if not node.is_ahead:
            raise IrregularError
        self.parts.append(self.part_of(node.item))
        number = len(self.parts)
        return AutomatonPart({}, {}, {frozenset([f"+{number}" if node.is_positive else f"-{number}"]): 1})

    def reference(self, node: Reference) -> AutomatonPart:
        raise IrregularError

    def repeat(self, node: Repeat) -> AutomatonPart:
        """Return the iterations of a loop, all of them expanded: a result must not be that of other counts.

        Empty iterations are all at the same position of a text, so that one of them stands for any number.
        """
        if not any(isinstance(inner, Set) for inner in nodes(node.item)):
            node = replace(node, least=min(node.least, 1), most=1 if node.most is None else min(node.most, 1))
        if max(node.least, node.most or 0) > self.copies:
            raise TooLargeError
        return super().repeat(node)

    def table(self) -> Table:
        self.parts.append(self.part_of(self.root))
        alphabet = classes([*self.sets, WORD] if self.has_boundaries else self.sets)
        word = 1 << len(self.sets)
        ends: list[tuple[Conditions, ...]] = [() for _ in self.sets]
        for part in self.parts:
            for state, paths in part.last.items():
                ends[state] = self.conditions(paths, state, None)
        goals = tuple((self.rows(part.first, None), self.conditions(part.empty, None, None)) for part in self.parts)
        endings = [*(row for rows in ends for row in rows), *(item for _, empty in goals for item in empty)]
        return (
            alphabet.starts,
            alphabet.numbers,
            tuple(members & (word - 1) for members in alphabet.members),
            tuple(bool(members & word) for members in alphabet.members),
            tuple(self.rows(transitions, state) for state, transitions in enumerate(self.transitions)),
            tuple(ends),
            goals,
            all("$" in conditions for conditions in endings),
        )

    def rows(self, states: dict[int, Paths], before: int | None) -> tuple[Row, ...]:
        """Return the states that may follow `before`, by the conditions of the transitions."""
        bits_by_conditions: dict[Conditions, int] = {}
        for state, paths in states.items():
            for conditions in self.conditions(paths, before, state):
                bits_by_conditions[conditions] = bits_by_conditions.get(conditions, 0) | 1 << state
        return tuple((bits, conditions) for conditions, bits in sorted(bits_by_conditions.items(), key=str))

    def conditions(self, paths: Paths, before: int | None, state: int | None) -> tuple[Conditions, ...]:
        """Return the conditions of `paths`, without those that both states (None: unknown) decide."""
        known = set[str]()
        impossible = set[str]()
        if before is not None:
            impossible.add("^")
        if state is not None:
            impossible.add("$")
        if before is not None and state is not None:
            is_boundary = self.is_word[before] != self.is_word[state]
            known.add("b" if is_boundary else "B")
            impossible.add("B" if is_boundary else "b")
        possible = [item - known for item in paths if not item & impossible]
        if len(possible) > MAX_CONDITIONS:
            raise TooLargeError
        # Beside a path without conditions the others do not matter.
        if frozenset() in possible:
            return ((),)
        # Lookaheads have a sign and a number, other conditions one character.
        return tuple(
            sorted({tuple(int(name) if name[1:] else name for name in sorted(item)) for item in possible}, key=str)
        )
