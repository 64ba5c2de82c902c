"""Proof that `re` searches for a pattern in linear time: the maximum number of paths that are tried at a character.

Each step of the matcher is a step of a path through the pattern's automaton, and no path is taken twice.  So the steps
at one character are at most the paths that have matched the text up to it.  They are counted for every text at once:
sets of states, each with the number of paths that lead to it, are followed through all classes of characters.  If there
are few such sets, and few paths in each, the time is linear, with a known factor.

A match ends the search.  So paths from a state where no match begins are counted separately, until one of them is
complete; and those from the one state where a match begins, without the others.

A pattern without a proof is assumed to take long; `safe_steps` returns how long a text may be nevertheless.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.schema.ecma.automaton import TooLargeError, automaton
from mcpc.schema.ecma.code_point_sets import classes
from mcpc.schema.ecma.lookbehind import can_be_empty
from mcpc.schema.ecma.machine import width
from mcpc.schema.ecma.tree import Assertion, Choice, Group, Look, Node, Repeat, Sequence, Set, children, nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.schema.ecma.automaton import Automaton

COPIES = (64, 12, 4, 1)
"""Limits of quantifiers that are expanded; the next one is tried if the automaton becomes too large."""
MAX_STATES, MAX_TRANSITIONS = 10_000, 60_000
MAX_PATHS = 16
"""Maximum number of paths at one character with which the time counts as linear."""
MAX_TRIES = 256
"""Maximum number of transitions that all of them try there."""
MAX_SETS = 2_000
MAX_WORK = 500_000
"""Maximum number of transitions that a proof follows."""
MAX_BEHIND = 16
"""Maximum number of paths of lookbehinds at each position of the text."""
MAX_TEXT_LENGTH = 4_096
"""Maximum length of the texts whose steps are counted."""
MAX_ROUNDS = 200
"""Maximum length of the paths of a pattern without loops."""

Counts = tuple[tuple[int, int], ...]
"""States, and the number of paths that lead to each."""


class UnprovedError(Exception):
    """There are too many sets of states, or too many paths in one."""


def is_linear(root: Node) -> bool:
    """Tell whether a search for `root` is proved to take few steps for each character of any text."""
    # Most patterns are as `^name$`: one path, and a short one.
    parts = list(islice(nodes(root), 2 * MAX_PATHS))
    if len(parts) < 2 * MAX_PATHS and all(isinstance(part, Set | Sequence | Group | Assertion) for part in parts):
        return True
    given = _automaton(root)
    if given is None or _lookbehind_length(root) != 0:
        return False
    return _is_short(given) or _max_paths(given) > 0


def lookbehind_steps(root: Node) -> int:
    """Return the maximum number of steps of lookbehinds at each character; 0 if it is not proved.

    On each path to a character a lookbehind matches as many characters again as it is wide, two of them in a step.
    """
    given = _automaton(root)
    behind = _lookbehind_length(root)
    if given is None or not behind:
        return 0
    paths = _max_paths(given) or (MAX_TRIES if _is_short(given) else 0)
    return paths + -(-paths * behind // 2)


def _is_short(given: Automaton) -> bool:
    """Tell whether no path is long, and few are tried at each character."""
    return _steps(given, MAX_TRIES * MAX_ROUNDS, MAX_ROUNDS)[1]


def _max_paths(given: Automaton) -> int:
    """Return the maximum number of paths at each character; 0 if it is not proved that they are few."""
    counter = _PathCounter(given)
    try:
        alone = counter.max_paths(alone=True)
        others = counter.max_paths(alone=False) if given.restart and not (given.is_exact and given.finds_nothing) else 1
    except UnprovedError:
        return 0
    return alone * others if alone * others <= MAX_PATHS else 0


def safe_steps(root: Node, most_steps: int) -> tuple[int, ...]:
    """Return the steps of the worst text of each length (0, 1, 2, …), up to `most_steps`.

    Each path is counted with its own worst text, so that a real text may take far fewer steps.
    """
    given = _automaton(root)
    behind = _lookbehind_length(root)
    if given is None or behind is None:
        return ()
    factor = max(1, behind)
    smaller_steps, _ = _steps(given, most_steps // factor, MAX_TEXT_LENGTH, until_few=False)
    return tuple(steps * factor for steps in smaller_steps)


@lru_cache(maxsize=64)
def _automaton(root: Node) -> Automaton | None:
    """Return the automaton in which paths are counted; None if it is too large, or would have fewer paths than `re`.

    `re` runs the minimum iterations of a loop even if they are empty.  Unless they are expanded, the paths that
    distribute a text over them are not counted; and with very many of them, not even empty iterations are cheap.
    """
    most_empty, empty_rounds = _empty_iterations(root)
    if empty_rounds > COPIES[0]:
        return None
    counts = [max(node.least, node.most or 0) for node in nodes(root) if isinstance(node, Repeat)]
    for copies in dict.fromkeys(min(copies, max(counts, default=0)) for copies in COPIES):
        if copies < most_empty:
            return None
        try:
            return automaton(root, copies, MAX_STATES, MAX_TRANSITIONS)
        except TooLargeError:
            continue
    return None


def _empty_iterations(node: Node) -> tuple[int, int]:
    """Return the number of iterations that may be empty: the maximum of one quantifier, and of nested ones."""
    inner = [_empty_iterations(child) for child in children(node)]
    by_one, nested = max((item for item, _ in inner), default=0), max((rounds for _, rounds in inner), default=1)
    if isinstance(node, Repeat) and node.least > 1 and can_be_empty(node.item):
        return max(by_one, node.least), nested * node.least
    return by_one, nested


def _lookbehind_length(root: Node) -> int | None:
    """Return the maximum number of characters that lookbehinds match at a position; None if on too many paths."""
    looks = [node for node in nodes(root) if isinstance(node, Look) and not node.is_ahead]
    if sum(_path_count(look.item) for look in looks) > MAX_BEHIND:
        return None
    if any(
        isinstance(node, Repeat) for look in looks for inner in _lookarounds(look.item) for node in nodes(inner.item)
    ):
        return None
    return _lookbehind_length_in(root)


def _lookarounds(root: Node) -> Iterator[Look]:
    return (node for node in nodes(root) if isinstance(node, Look))


def _lookbehind_length_in(node: Node) -> int:
    """Return the characters that lookbehinds in `node` match at a position, for each iteration of a counted loop."""
    if isinstance(node, Look) and not node.is_ahead:
        ahead = sum(sum(1 for _ in nodes(look.item)) for look in _lookarounds(node.item))
        return _path_count(node.item) * max(1, width(node.item) + ahead)
    length = sum(map(_lookbehind_length_in, children(node)))
    return length * node.least if isinstance(node, Repeat) and node.least > 1 and can_be_empty(node.item) else length


def _path_count(node: Node) -> int:
    """Return the number of paths through `node`, all matches of which have one length."""
    if isinstance(node, Choice):
        return sum(map(_path_count, node.branches))
    paths = 1
    for child in children(node):
        paths = min(paths * _path_count(child), MAX_BEHIND + 1)
    # The exponent is bounded first: the power itself could be a huge number.
    return min(paths ** min(node.least, MAX_BEHIND), MAX_BEHIND + 1) if isinstance(node, Repeat) else paths


@dataclass
class _PathCounter:
    """Counter of the paths through one automaton."""

    given: Automaton
    tries: list[int] = field(init=False)
    members: tuple[int, ...] = field(init=False)
    work: int = 0

    def __post_init__(self) -> None:
        self.members = classes(self.given.sets).members
        self.tries = [sum(row.values()) + 1 for row in self.given.after]

    def max_paths(self, alone: bool) -> int:
        """Return the maximum number of paths at one character: from one first state (`alone`), or from all."""
        given = self.given
        begun = {**given.restart, **given.start}
        first = given.start if not alone else {state: max(given.restart.get(state, 0), begun[state]) for state in begun}
        waiting = list(self.following((), first, not alone))
        seen = set(waiting)
        most = 1
        while waiting:
            counts = waiting.pop()
            most = max(most, sum(number for _, number in counts))
            if most > MAX_PATHS or sum(number * self.tries[state] for state, number in counts) > MAX_TRIES:
                raise UnprovedError
            for following in self.following(counts, {} if alone else given.restart, not alone):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
            if len(seen) > MAX_SETS:
                raise UnprovedError
        return most

    def following(self, counts: Counts, begin: dict[int, int], ends: bool) -> Iterator[Counts]:
        """Yield the successor of `counts` for each class of characters; `ends`: a match ends the search."""
        reached = dict(begin)
        self.work += len(counts)
        for state, number in counts:
            for other, paths in self.given.after[state].items():
                reached[other] = reached.get(other, 0) + number * paths
        final = self.given.final if ends and self.given.is_exact else frozenset[int]()
        bits = sum(1 << state for state in reached)
        for members in dict.fromkeys(member & bits for member in self.members):
            self.work += members.bit_count() + 1
            if self.work > MAX_WORK:
                raise UnprovedError
            states = [state for state in reached if members >> state & 1]
            if final.isdisjoint(states):
                yield tuple(sorted((state, reached[state]) for state in states))


MAX_SUMS = 2_000_000
"""Maximum number of additions to find a length."""


def _steps(given: Automaton, most_steps: int, longest: int, until_few: bool = True) -> tuple[list[int], bool]:
    """Return the steps of texts by their lengths, and whether those of longer texts are few for each character, too.

    The latter holds if no path is longer than the last of these texts; it is checked only with `until_few`.
    """
    sets = classes(given.sets).members
    rows = [_choices(row, sets) for row in given.after]
    start, restart = _choices(given.start, sets), _choices(given.restart, sets)
    size = sum(len(choice) for row in (*rows, start, restart) for choice in row[1]) + len(rows) + 1
    steps = [1] * len(rows)
    totals: list[int] = []
    before = 0
    while len(totals) < min(longest, MAX_SUMS // size):
        # `steps[p]`: what may follow in the next `len(found)` characters once p has read one
        before += _max_steps(restart, steps)
        total = before + _max_steps(start, steps)
        if total > most_steps:
            break
        totals.append(total)
        following = [_max_steps(row, steps) for row in rows]
        if until_few and following == steps:
            each = _max_steps(restart, steps) + _max_steps(start, steps) // len(totals)
            if each <= MAX_TRIES or not given.restart:
                return totals, each <= MAX_TRIES
        steps = following
    return totals, False


Choices = tuple[int, list[list[tuple[int, int]]]]
"""The number of paths that are tried, and those that can continue together: states and numbers of paths."""


def _choices(row: dict[int, int], sets: tuple[int, ...]) -> Choices:
    bits = sum(1 << state for state in row)
    together = {members & bits for members in sets}
    # A choice takes at least the steps of any part of it.
    largest = [item for item in together if not any(item != other and item & other == item for other in together)]
    return sum(row.values()) + 1, [[(state, row[state]) for state in row if item >> state & 1] for item in largest]


def _max_steps(choices: Choices, steps: list[int]) -> int:
    return choices[0] + max((sum(paths * steps[state] for state, paths in choice) for choice in choices[1]), default=0)
