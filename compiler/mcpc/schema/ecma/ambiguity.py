"""Search for texts that a pattern can read in more and more ways the longer they get.

Exponentially many if from some place there are two ways back to it that read the same; n to the power d if d loops
follow each other of which each, reading the same, can also lead into the next (Weber and Seidl, 1991).  What is found
here is what may happen; looks ahead and what matches earlier can prevent it, so that each text is tried out.
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
"""Steps of one search through pairs or triples of places."""
MAX_TRIED = 4
"""Texts that are tried of each loop, and places of a loop that are tried."""
MAX_LOOPS = 30
MAX_KINDS = 30
"""Sets of characters that a text avoids, so that no match ends what it begins."""
READABLE = (*range(0x61, 0x7B), *range(0x30, 0x3A), *range(0x41, 0x5B), *range(0x20, 0x7F))


@dataclass(frozen=True, slots=True)
class ReDoSWitness:
    """A text: pieces that stand once, and after each but the last one that is repeated."""

    fixed: tuple[str, ...]
    pumped: tuple[str, ...]

    def text(self, times: int) -> str:
        """Return the text with `times` repetitions."""
        parts = [item + other * times for item, other in zip(self.fixed, self.pumped, strict=False)]
        return "".join([*parts, self.fixed[-1]])

    def ending(self, suffix: str) -> ReDoSWitness:
        """Return the same with `suffix` behind it."""
        return ReDoSWitness((*self.fixed[:-1], self.fixed[-1] + suffix), self.pumped)


def exponential(given: Automaton) -> Iterator[ReDoSWitness]:
    """Yield texts that may be read in exponentially many ways."""
    graph = _Graph(given, is_searched=False)
    for component in graph.loops:
        for place, pump in graph.pumps(component):
            way = graph.shortest_path(graph.entries, {place})
            if way is not None:
                yield ReDoSWitness((graph.spelled(way), ""), (pump,))


def polynomial(given: Automaton) -> tuple[int, ReDoSWitness] | None:
    """Return the degree of the time that the longest chain of loops may take, and the text that makes it."""
    graph = _Graph(given, is_searched=True)
    links = graph.longest_chain()
    fixed, pumped, before = [], [], graph.entries
    for first, pump, last in links:
        way = graph.shortest_path(before, {first})
        if way is None:
            return None
        fixed.append(graph.spelled(way))
        pumped.append(pump)
        before = {**graph.after[last], last: 0}
    return (len(links) + 1, ReDoSWitness((*fixed, ""), tuple(pumped))) if links else None


def endings(given: Automaton) -> list[str]:
    """Return texts that may keep a match from being found: characters the pattern does not read, and some it does."""
    others = complement(union(given.sets))
    candidates = [sample(others), ""]
    for ranges in dict.fromkeys(given.sets[:100]):
        candidates += [sample(complement(ranges)), sample(ranges)]
    single = list(dict.fromkeys(character for character in candidates if character is not None))[:10]
    return [*single, *(character * 3 for character in single if character)]


def sample(ranges: Ranges) -> str | None:
    """Return a character of `ranges`, one that can be read if there is one."""
    for point in READABLE:
        if contains(ranges, point):
            return chr(point)
    return chr(ranges[0][0]) if ranges else None


class _Graph:
    """The places of an automaton and what is asked of them, with one more in front if a match may begin anywhere."""

    def __init__(self, given: Automaton, is_searched: bool) -> None:
        self.sets = list(given.sets)
        self.after = list(given.after)
        self.entries = dict(given.start)
        if is_searched:
            self.after.append({**given.restart, len(self.sets): 1})
            self.entries[len(self.sets)] = 1
            self.sets.append(EVERYTHING)
        ids: dict[Ranges, int] = {}
        self.kinds = [ids.setdefault(ranges, len(ids)) for ranges in self.sets]
        self.ranges = list(ids)
        self.others = [complement(ranges) for ranges in self.ranges[:MAX_KINDS]]
        self.shared = cache(self._shared)
        self.work = 0
        self.loops = cycles(dict(enumerate(self.after)))

    def _shared(self, kinds: frozenset[int]) -> str | None:
        """Return a character that is in the sets of all of `kinds`, and in as few others as can be."""
        ranges: Ranges = EVERYTHING
        for kind in sorted(kinds):
            ranges = intersection(ranges, self.ranges[kind])
        for other in self.others:
            ranges = intersection(ranges, other) or ranges
        return sample(ranges)

    def read(self, *places: int) -> str | None:
        """Return a character that all of `places` read."""
        return self.shared(frozenset(self.kinds[place] for place in places))

    def spelled(self, way: Iterable[int]) -> str:
        """Return a text that is read along a way."""
        return "".join(self.read(place) or "" for place in way)

    def is_spent(self, amount: int = 1) -> bool:
        """Count the work done; say whether it is too much."""
        self.work += amount
        return self.work > MAX_WORK

    def shortest_path(
        self, entries: dict[int, int], goals: set[int], within: frozenset[int] | None = None
    ) -> list[int] | None:
        """Return the places of a shortest way to one of `goals`; [] if `entries` says that one is there already (0)."""
        if any(not entries.get(goal, 1) for goal in goals):
            return []
        parents: dict[int, int] = dict.fromkeys(entries, -1)
        queue = deque(entries)
        while queue:
            place = queue.popleft()
            if place in goals:
                return _traced(parents, place)
            for other in self.after[place]:
                if other not in parents and (within is None or other in within):
                    parents[other] = place
                    queue.append(other)
        return None

    def pumps(self, component: frozenset[int]) -> list[tuple[int, str]]:
        """Return places of a loop, with a short text that leads back to each of them in two ways."""
        found = {pump: place for place, pump in [*self.doubled(component), *self.parted(component)]}
        return [(found[pump], pump) for pump in sorted(found, key=len)[:MAX_TRIED]]

    def doubled(self, component: frozenset[int]) -> Iterator[tuple[int, str]]:
        """Yield places that another follows in two ways."""
        rows = ((place, other) for place in sorted(component) for other in self.after[place] if other in component)
        twice = [(place, other) for place, other in rows if self.after[place][other] > 1]
        for place, other in twice[:MAX_LOOPS]:
            yield place, self.spelled(self.shortest_path({other: 1}, {place}, component) or [])

    def parted(self, component: frozenset[int]) -> Iterator[tuple[int, str]]:
        """Yield places and texts that lead back in two ways which part, and meet again."""
        inside = {place: [other for other in self.after[place] if other in component] for place in sorted(component)}
        self.work = 0
        for place in inside:
            for meeting, text in islice(self.met_again(place, inside), MAX_TRIED):
                back = (
                    self.shortest_path(dict.fromkeys(inside[meeting], 1), {place}, component)
                    if meeting != place
                    else []
                )
                yield place, text + self.spelled(back or [])

    def met_again(self, start: int, inside: dict[int, list[int]]) -> Iterator[tuple[int, str]]:
        """Yield the places where two ways from `start` that have parted meet, and what both have read."""
        seen: dict[tuple[int, int], str] = {}
        queue = deque([(start, start)])
        while queue:
            one, other = queue.popleft()
            text = seen.get((one, other), "")
            for following in product(inside[one], inside[other]):
                if self.is_spent():
                    return
                has_parted = one != other or following[0] < following[1]
                character = self.read(*following) if has_parted and following not in seen else None
                if character is not None:
                    seen[following] = text + character
                    if following[0] == following[1]:
                        yield following[0], seen[following]
                    else:
                        queue.append(following)

    def longest_chain(self) -> list[tuple[int, str, int]]:
        """Return the most links that follow each other: a place, a text, and the place of another loop it leads to."""
        best: dict[frozenset[int], list[tuple[int, str, int]]] = {}
        self.work = 0
        for loop in self.loops[:MAX_LOOPS]:
            best[loop] = []
            below = self.reached(loop)
            for other in best:
                rest = best[other]
                if other == loop or not other & below:
                    continue
                if len(rest) >= len(best[loop]):
                    link = self.link(loop, other, below)
                    best[loop] = [link, *rest] if link else max(best[loop], rest, key=len)
        return max(best.values(), key=len, default=[])

    def reached(self, start: Iterable[int]) -> set[int]:
        """Return every place that can be reached."""
        found = set(start)
        waiting = list(found)
        while waiting:
            for other in self.after[waiting.pop()]:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def link(self, loop: frozenset[int], other: frozenset[int], between: set[int]) -> tuple[int, str, int] | None:
        """Return a place in each loop, and a text that leads back to each of them and from the first to the second."""
        for first in sorted(loop)[:MAX_TRIED]:
            for last in sorted(other)[:MAX_TRIED]:
                text = self.linking((first, first, last), loop, other, between)
                if text is not None:
                    return first, text, last
        return None

    def linking(
        self, start: tuple[int, int, int], loop: frozenset[int], other: frozenset[int], between: set[int]
    ) -> str | None:
        """Return what leads from `start`, three places at once, to its first, last and last."""
        goal = start[0], start[2], start[2]
        seen: dict[tuple[int, ...], str] = {start: ""}
        queue = deque(seen)
        while queue:
            places = queue.popleft()
            rows = zip(places, (loop, between, other), strict=True)
            choices = [[after for after in self.after[place] if after in allowed] for place, allowed in rows]
            for following in product(*choices):
                if self.is_spent():
                    return None
                character = self.read(*following) if following not in seen else None
                if character is None:
                    continue
                seen[following] = seen[places] + character
                if following == goal:
                    return seen[following]
                queue.append(following)
        return None


def _traced(parents: dict[int, int], place: int) -> list[int]:
    way = []
    while place >= 0:
        way.append(place)
        place = parents[place]
    return way[::-1]
