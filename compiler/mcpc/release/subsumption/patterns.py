"""Texts that match some patterns, do not match others, and have a length within bounds: a product of automata.

It is exact for patterns that are regular and have neither lookarounds nor word boundaries.  The states of the product
are made when they are reached, and each costs work.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.schema.ecma.automaton import MAX_STATES, AutomatonBuilder, TooLargeError
from mcpc.schema.ecma.code_point_sets import classes
from mcpc.schema.ecma.translation import parse
from mcpc.schema.ecma.tree import Look, Reference, nodes
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.schema.ecma.code_point_sets import Ranges

MAX_COPIES, MAX_TRANSITIONS = 300, 20_000
SURROGATES = (0xD800, 0xDFFF)
MAX_LENGTH = 2_000
"""Lengths up to which bounds are counted."""
LIKED = "abcxyzABC0123456789_- ./:@"
"""Characters that a witness has if it may."""

State = frozenset[int] | bool
"""Positions of an automaton; True: a match was found, whatever follows.  False is never one."""


class UndecidablePatternError(Exception):
    """A pattern is not regular, or too large."""


@dataclass(frozen=True, slots=True, eq=False)
class Matcher:
    """The automaton of a pattern: positions with their characters, and those that end a match, at once or at the end.

    `begin`: positions of a match that begins with the text; `later`: of any other.
    """

    sets: tuple[Ranges, ...]
    after: tuple[frozenset[int], ...]
    begin: frozenset[int]
    later: frozenset[int]
    ends: frozenset[int]
    ends_text: frozenset[int]
    always: bool
    when_empty: bool

    def step(self, state: State, fits: frozenset[int], *, is_first: bool) -> State:
        """Return the state after a character, which fits these positions."""
        if state is True:
            return True
        reached = set(self.begin if is_first else self.later)
        for position in state or ():
            reached |= self.after[position]
        found = frozenset(reached & fits)
        return True if found & self.ends else found

    def accepts(self, state: State, *, is_empty: bool) -> bool:
        """Tell whether a text matches that ends in this state."""
        return state is True or bool(state and state & self.ends_text) or (is_empty and self.when_empty)


@lru_cache(maxsize=512)
def matcher(pattern: str) -> Matcher:
    """Return the automaton of an ECMA-262 pattern; raise UndecidablePatternError."""
    try:
        root = parse(pattern)
        builder = AutomatonBuilder(root, MAX_COPIES, MAX_STATES, MAX_TRANSITIONS)
        whole = builder.part_of(root)
        is_exact = builder.is_exact(whole)
    except (PatternError, TooLargeError, RecursionError):
        raise UndecidablePatternError(pattern) from None
    if not is_exact or builder.has_boundaries or any(isinstance(node, Look | Reference) for node in nodes(root)):
        raise UndecidablePatternError(pattern)
    at_start, at_end = frozenset("^"), frozenset("$")
    free = frozenset[str]()
    empty = {conditions for conditions in whole.empty if whole.empty[conditions]}
    return Matcher(
        tuple(builder.sets),
        tuple(frozenset(state for state, paths in row.items() if free in paths) for row in builder.transitions),
        frozenset(state for state, paths in whole.first.items() if any(each <= at_start for each in paths)),
        frozenset(state for state, paths in whole.first.items() if free in paths),
        frozenset(state for state, paths in whole.last.items() if free in paths),
        frozenset(state for state, paths in whole.last.items() if any(each <= at_end for each in paths)),
        any(len(each) < 2 for each in empty),
        bool(empty),
    )


@dataclass(frozen=True, slots=True)
class TextSet:
    """Texts that match all of `matching` and none of `others`, of `least` to `most` code points."""

    matching: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None


class TextSearch:
    """A search for texts, shortest first; `spend` is called for each state."""

    def __init__(self, texts: TextSet, spend: Callable[[int], None]) -> None:
        """Build the automata; raise UndecidablePatternError."""
        self.texts = texts
        self.spend = spend
        patterns = (*texts.matching, *texts.others)
        if max(texts.least, texts.most or 0) > MAX_LENGTH:
            raise UndecidablePatternError("lengths")
        self._matchers = [matcher(each) for each in patterns]
        self._wanted = [number < len(self.texts.matching) for number in range(len(patterns))]
        self._letters = [*self._alphabet()]
        self._bound = self.texts.least if self.texts.most is None else self.texts.most

    def _alphabet(self) -> Iterator[tuple[str, list[frozenset[int]]]]:
        """Yield a character for each class that no pattern distinguishes, with the positions that it fits."""
        sets = [ranges for each in self._matchers for ranges in each.sets]
        found = classes(sets)
        for number, members in enumerate(found.members):
            character = _representative(found.starts, found.numbers, number)
            if character is None:
                continue
            fits, offset = [], 0
            for each in self._matchers:
                count = len(each.sets)
                fits.append(frozenset(at for at in range(count) if members >> (offset + at) & 1))
                offset += count
            yield character, fits

    def __iter__(self) -> Iterator[str]:
        """Yield a text for each way through the automata; the iterator ends when there are no more *states*."""
        start = tuple[State, ...](True if each.always else frozenset() for each in self._matchers)
        waiting = deque([(start, 0, "")])
        seen = {(start, 0)}
        while waiting:
            states, length, text = waiting.popleft()
            self.spend(1 + len(self._letters))
            if length >= self.texts.least and self._is_wanted(states, not text):
                yield text
            if self.texts.most is not None and length >= self.texts.most:
                continue
            for character, fits in self._letters:
                reached = self._step(states, fits, not text)
                key = (reached, min(length + 1, self._bound))
                if key not in seen and not self._is_hopeless(reached):
                    seen.add(key)
                    waiting.append((reached, length + 1, text + character))

    def _step(self, states: Sequence[State], fits: Sequence[frozenset[int]], is_first: bool) -> tuple[State, ...]:
        rows = zip(self._matchers, states, fits, strict=True)
        return tuple(each.step(state, row, is_first=is_first) for each, state, row in rows)

    def _is_wanted(self, states: Sequence[State], is_empty: bool) -> bool:
        rows = zip(self._matchers, states, self._wanted, strict=True)
        return all(each.accepts(state, is_empty=is_empty) is wanted for each, state, wanted in rows)

    def _is_hopeless(self, states: Sequence[State]) -> bool:
        return any(state is True and not wanted for state, wanted in zip(states, self._wanted, strict=True))


def _representative(starts: Sequence[int], numbers: Sequence[int], wanted: int) -> str | None:
    """Return a character of a class, a usual one if there is any; None if it has surrogates only."""
    ends = [*starts[1:], 0x110000]
    rows = [(start, end) for start, end, number in zip(starts, ends, numbers, strict=True) if number == wanted]
    for character in LIKED:
        if any(start <= ord(character) < end for start, end in rows):
            return character
    for start, end in rows:
        if SURROGATES[0] <= start <= SURROGATES[1]:
            start = SURROGATES[1] + 1
        if start < end:
            return chr(start)
    return None
