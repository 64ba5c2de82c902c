"""Search for texts that a pattern matches along more and more paths the longer they get.

The number of paths grows exponentially if two paths lead from a state back to it and match the same text. It grows with
the power d of the length if d loops follow each other, and each text of a loop also leads to the next loop (Weber and
Seidl, 1991).  The result is a candidate: lookaheads, and matches of earlier alternatives, may prevent it, so that every
text is tried.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from typing import TYPE_CHECKING

from mcpc.schema.ecma.code_point_sets import EVERYTHING, complement, contains, intersection, union
from mcpc.schema.graph import cycles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.schema.ecma.automaton import Automaton
    from mcpc.schema.ecma.code_point_sets import Ranges

MAX_WORK = 200_000
"""Maximum number of steps of one search through pairs or triples of states."""
MAX_TRIED = 4
"""Maximum number of tried texts of each loop, and of tried states of a loop."""
MAX_LOOPS = 30
MAX_KINDS = 30
"""Maximum number of sets of characters that a text avoids, so that no match ends early."""
# Small letters are tried first, then digits, capitals, and all other printable characters.
READABLE = (*range(0x61, 0x7B), *range(0x30, 0x3A), *range(0x41, 0x5B), *range(0x20, 0x7F))


@dataclass(frozen=True, slots=True)
class ReDoSWitness:
    """A text of fixed parts; after each but the last one a part that is repeated."""

    fixed: tuple[str, ...]
    pumped: tuple[str, ...]

    def text(self, times: int) -> str:
        """Return the text with `times` repetitions."""
        parts = [item + other * times for item, other in zip(self.fixed, self.pumped, strict=False)]
        return "".join([*parts, self.fixed[-1]])

    def ending(self, suffix: str) -> ReDoSWitness:
        """Return the witness with `suffix` at its end."""
        return ReDoSWitness((*self.fixed[:-1], self.fixed[-1] + suffix), self.pumped)


def exponential(given: Automaton) -> Iterator[ReDoSWitness]:
    """Yield texts with exponentially many paths."""
    graph = _Graph(given, is_searched=False)
    for component in graph.loops:
        for state, pump in graph.pumps(component):
            path = graph.shortest_path(graph.entries, {state})
            if path is not None:
                yield ReDoSWitness((graph.text_along(path), ""), (pump,))


def polynomial(given: Automaton) -> tuple[int, ReDoSWitness] | None:
    """Return the degree of the time of the longest chain of loops, and a text that shows it."""
    graph = _Graph(given, is_searched=True)
    links = graph.longest_chain()
    fixed, pumped, before = [], [], graph.entries
    for first, pump, last in links:
        path = graph.shortest_path(before, {first})
        if path is None:
            return None
        fixed.append(graph.text_along(path))
        pumped.append(pump)
        before = {**graph.after[last], last: 0}
    return (len(links) + 1, ReDoSWitness((*fixed, ""), tuple(pumped))) if links else None


def endings(given: Automaton) -> list[str]:
    """Return texts that may prevent a match: characters outside the sets of the pattern, and some inside."""
    others = complement(union(given.sets))
    candidates = [sample(others), ""]
    for ranges in dict.fromkeys(given.sets[:100]):
        candidates += [sample(complement(ranges)), sample(ranges)]
    single = list(dict.fromkeys(character for character in candidates if character is not None))[:10]
    return [*single, *(character * 3 for character in single if character)]


def sample(ranges: Ranges) -> str | None:
    """Return a character of `ranges`, a printable one if there is one."""
    for point in READABLE:
        if contains(ranges, point):
            return chr(point)
    return chr(ranges[0][0]) if ranges else None


class _Graph:
    """The states of an automaton as a graph, with one more before them if a match may begin anywhere."""

    def __init__(self, given: Automaton, is_searched: bool) -> None:
        self.sets = list(given.sets)
        self.after = list(given.after)
        self.entries = dict(given.start)
        if is_searched:
            # This state reads any character, and leads to itself and to where a later match begins.
            self.after.append({**given.restart, len(self.sets): 1})
            self.entries[len(self.sets)] = 1
            self.sets.append(EVERYTHING)
        ids: dict[Ranges, int] = {}
        self.kinds = [ids.setdefault(ranges, len(ids)) for ranges in self.sets]
        self.ranges = list(ids)
        self.others = [complement(ranges) for ranges in self.ranges[:MAX_KINDS]]
        self.common_character = cache(self._common_character)
        self.work = 0
        self.loops = cycles(dict(enumerate(self.after)))

    def _common_character(self, kinds: frozenset[int]) -> str | None:
        """Return a character in the sets of all `kinds`, and in as few other sets as possible."""
        ranges: Ranges = EVERYTHING
        for kind in sorted(kinds):
            ranges = intersection(ranges, self.ranges[kind])
        # One more set is avoided as long as some character is left.
        for other in self.others:
            ranges = intersection(ranges, other) or ranges
        return sample(ranges)

    def read(self, *states: int) -> str | None:
        """Return a character that all of `states` match."""
        return self.common_character(frozenset(self.kinds[state] for state in states))

    def text_along(self, path: Iterable[int]) -> str:
        """Return a text that is matched along a path."""
        return "".join(self.read(state) or "" for state in path)

    def is_exhausted(self, amount: int = 1) -> bool:
        """Count steps; tell whether there are too many."""
        self.work += amount
        return self.work > MAX_WORK

    def shortest_path(
        self, entries: dict[int, int], goals: set[int], within: frozenset[int] | None = None
    ) -> list[int] | None:
        """Return the states of a shortest path to a goal; [] if `entries` has a goal with 0 (already there)."""
        if any(not entries.get(goal, 1) for goal in goals):
            return []
        parents: dict[int, int] = dict.fromkeys(entries, -1)
        queue = deque(entries)
        while queue:
            state = queue.popleft()
            if state in goals:
                return _path_from(parents, state)
            for other in self.after[state]:
                if other not in parents and (within is None or other in within):
                    parents[other] = state
                    queue.append(other)
        return None

    def pumps(self, component: frozenset[int]) -> list[tuple[int, str]]:
        """Return states of a loop, each with a short text that leads back to it along two paths."""
        labels = {
            pump: state for state, pump in [*self.parallel_transitions(component), *self.diverging_paths(component)]
        }
        return [(labels[pump], pump) for pump in sorted(labels, key=len)[:MAX_TRIED]]

    def parallel_transitions(self, component: frozenset[int]) -> Iterator[tuple[int, str]]:
        """Yield states with two transitions to the same state."""
        rows = ((state, other) for state in sorted(component) for other in self.after[state] if other in component)
        twice = [(state, other) for state, other in rows if self.after[state][other] > 1]
        for state, other in twice[:MAX_LOOPS]:
            yield state, self.text_along(self.shortest_path({other: 1}, {state}, component) or [])

    def diverging_paths(self, component: frozenset[int]) -> Iterator[tuple[int, str]]:
        """Yield states and texts that lead back along two paths, which diverge and meet again."""
        inside = {state: [other for other in self.after[state] if other in component] for state in sorted(component)}
        self.work = 0
        for state in inside:
            for meeting, text in islice(self.meeting_states(state, inside), MAX_TRIED):
                back = (
                    self.shortest_path(dict.fromkeys(inside[meeting], 1), {state}, component)
                    if meeting != state
                    else []
                )
                yield state, text + self.text_along(back or [])

    def meeting_states(self, start: int, inside: dict[int, list[int]]) -> Iterator[tuple[int, str]]:
        """Yield the states where two paths that diverged after `start` meet, and the text that both match."""
        seen: dict[tuple[int, int], str] = {}
        queue = deque([(start, start)])
        while queue:
            one, other = queue.popleft()
            text = seen.get((one, other), "")
            for following in product(inside[one], inside[other]):
                if self.is_exhausted():
                    return
                # While the paths are one, a pair of states and its mirror image are the same choice.
                has_diverged = one != other or following[0] < following[1]
                character = self.read(*following) if has_diverged and following not in seen else None
                if character is not None:
                    seen[following] = text + character
                    if following[0] == following[1]:
                        yield following[0], seen[following]
                    else:
                        queue.append(following)

    def longest_chain(self) -> list[tuple[int, str, int]]:
        """Return the longest chain of links: a state, a text, and the state of another loop that it leads to."""
        best: dict[frozenset[int], list[tuple[int, str, int]]] = {}
        self.work = 0
        for loop in self.loops[:MAX_LOOPS]:
            best[loop] = []
            below = self.reachable_states(loop)
            # Loops come after those that they lead to, whose chains are known already.
            for other in best:
                rest = best[other]
                if other == loop or not other & below:
                    continue
                if len(rest) >= len(best[loop]):
                    link = self.link(loop, other, below)
                    best[loop] = [link, *rest] if link else max(best[loop], rest, key=len)
        return max(best.values(), key=len, default=[])

    def reachable_states(self, start: Iterable[int]) -> set[int]:
        """Return every state that can be reached."""
        states = set(start)
        waiting = list(states)
        while waiting:
            for other in self.after[waiting.pop()]:
                if other not in states:
                    states.add(other)
                    waiting.append(other)
        return states

    def link(self, loop: frozenset[int], other: frozenset[int], between: set[int]) -> tuple[int, str, int] | None:
        """Return a state in each loop, and a text that leads back to each of them and from the first to the second."""
        for first in sorted(loop)[:MAX_TRIED]:
            for last in sorted(other)[:MAX_TRIED]:
                text = self.linking_text((first, first, last), loop, other, between)
                if text is not None:
                    return first, text, last
        return None

    def linking_text(
        self, start: tuple[int, int, int], loop: frozenset[int], other: frozenset[int], between: set[int]
    ) -> str | None:
        """Return a text that leads three states at once from `start` to its first, last and last state."""
        goal = start[0], start[2], start[2]
        seen: dict[tuple[int, ...], str] = {start: ""}
        queue = deque(seen)
        while queue:
            states = queue.popleft()
            rows = zip(states, (loop, between, other), strict=True)
            choices = [[after for after in self.after[state] if after in allowed] for state, allowed in rows]
            for following in product(*choices):
                if self.is_exhausted():
                    return None
                character = self.read(*following) if following not in seen else None
                if character is None:
                    continue
                seen[following] = seen[states] + character
                if following == goal:
                    return seen[following]
                queue.append(following)
        return None


def _path_from(parents: dict[int, int], state: int) -> list[int]:
    path = []
    while state >= 0:
        path.append(state)
        state = parents[state]
    return path[::-1]
