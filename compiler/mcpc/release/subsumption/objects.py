"""Objects that satisfy the atoms of a branch: which properties there are, then their values.

A property is one that a keyword names, or a new one.  Names are texts, so that new names are found by the same search
as texts; which patterns a new name matches is tried in all combinations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from mcpc.release.subsumption.branches import Demand
from mcpc.release.subsumption.judge import UnjudgedError
from mcpc.release.subsumption.search import NOTHING, UNKNOWN, BudgetError, Solutions, value_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.release.subsumption.branches import Atom
    from mcpc.release.subsumption.nodes import SchemaNode
    from mcpc.release.subsumption.search import Search
    from mcpc.release.subsumption.structures import ObjectKeywords, Somewhere

    Json = Any

MAX_PROPERTIES = 200
Values = dict[str, tuple[Demand, ...]]


@dataclass(frozen=True, slots=True)
class NewProperty:
    """A property with a name that no keyword mentions: what its name and its value have to match."""

    name: tuple[Demand, ...] = ()
    value: tuple[Demand, ...] = ()
    matching: str | None = None
    other_patterns: tuple[str, ...] = ()


@dataclass(slots=True)
class ObjectConstraints:
    """What a branch demands of an object."""

    least: int = 0
    most: int | None = None
    shapes: list[ObjectKeywords] = field(default_factory=list)
    required: dict[str, list[Demand]] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    names: list[Demand] = field(default_factory=list)
    somewhere: list[Somewhere] = field(default_factory=list)
    wrong_names: list[SchemaNode] = field(default_factory=list)

    def add(self, atom: Atom) -> None:
        """Add an atom."""
        value = atom.value
        if atom.name in ("minProperties", "maxProperties"):
            self._limit(int(value), is_least=(atom.name == "minProperties") is atom.holds, holds=atom.holds)
        elif atom.name == "propertyNames":
            self.names += [Demand(value, True)] if atom.holds else []
            self.wrong_names += [] if atom.holds else [value]
        elif atom.name == "property":
            name, node, holds = value
            self.required.setdefault(name, []).append(Demand(node, holds))
        elif atom.name == "required":
            self.required.setdefault(value, [])
        elif atom.name == "absent":
            self.absent.add(value)
        else:
            self.shapes += [value] if atom.name == "object shape" else []
            self.somewhere += [value] if atom.name == "somewhere" else []

    def _limit(self, bound: int, *, is_least: bool, holds: bool) -> None:
        """Set a bound; one that does not hold is the other bound beside it."""
        if is_least:
            self.least = max(self.least, bound + (not holds))
        else:
            bound -= not holds
            self.most = bound if self.most is None else min(self.most, bound)

    def mentioned(self) -> list[str]:
        """Return the names that a keyword mentions, sorted."""
        found = {*self.required, *self.absent}
        for shape in self.shapes:
            found |= {*shape.properties}
        for each in self.somewhere:
            found |= {*each.other_names}
        return sorted(found)

    def patterns(self) -> list[str]:
        """Return the patterns of all shapes, and of what must be somewhere, sorted."""
        found = {pattern for shape in self.shapes for pattern in shape.patterns}
        for each in self.somewhere:
            found |= {*each.other_patterns} | ({each.matching} if each.matching is not None else set())
        return sorted(found)


def objects(search: Search, atoms: Sequence[Atom], count: int, excluded: frozenset[str]) -> Solutions:
    """Return objects that satisfy atoms."""
    wanted = ObjectConstraints()
    for atom in atoms:
        wanted.add(atom)
    is_small = wanted.most is not None and wanted.most < max(wanted.least, len(wanted.required))
    if is_small or wanted.absent & wanted.required.keys():
        return NOTHING
    if wanted.least > MAX_PROPERTIES:
        raise BudgetError(f"objects of more than {MAX_PROPERTIES} properties")
    return ObjectSearch(search, wanted, count, excluded).solve()


class ObjectSearch:
    """The search for objects of one branch."""

    def __init__(self, search: Search, wanted: ObjectConstraints, count: int, excluded: frozenset[str]) -> None:
        self._search = search
        self._wanted = wanted
        self._count = count
        self._excluded = excluded
        self._mentioned = wanted.mentioned()
        self._patterns = wanted.patterns()
        nodes = search.nodes
        self._pattern_nodes = {each: nodes.root({"type": "string", "pattern": each}) for each in self._patterns}
        self._string = Demand(nodes.root({"type": "string"}), True)

    def solve(self) -> Solutions:
        """Return the objects."""
        values: list[Json] = []
        is_complete = True
        try:
            for required, new in self._assignments():
                self._search.spend(1)
                found = self._filled(required, new)
                is_complete = is_complete and found.is_complete
                values += [value for value in found.values if value_key(value) not in self._excluded]
                if len(values) >= self._count:
                    return Solutions(values, False)
        except UnjudgedError:
            self._search.note("a pattern cannot be compared")
            return Solutions(values, False)
        return Solutions(values, is_complete)

    def _assignments(self) -> Iterator[tuple[Values, list[NewProperty]]]:
        """Yield where each of the properties is that must be somewhere: at a mentioned name, or at a new one."""
        choices: list[list[tuple[str | None, NewProperty]]] = []
        for each in self._wanted.somewhere:
            new = NewProperty((), (Demand(each.node, False),), each.matching, each.other_patterns)
            choices.append([*((name, new) for name in self._mentioned if self._is_candidate(name, each)), (None, new)])
        for node in self._wanted.wrong_names:
            names = [name for name in self._mentioned if not self._search.judge.accepts(node, name)]
            new = NewProperty((Demand(node, False),))
            choices.append([*((name, new) for name in names), (None, new)])
        for chosen in product(*choices):
            required = {name: tuple(wanted) for name, wanted in self._wanted.required.items()}
            for name, new in chosen:
                if name is not None:
                    required[name] = (*required.get(name, ()), *new.value)
            yield required, [new for name, new in chosen if name is None]

    def _is_candidate(self, name: str, each: Somewhere) -> bool:
        if name in each.other_names or any(self._matches(pattern, name) for pattern in each.other_patterns):
            return False
        return each.matching is None or self._matches(each.matching, name)

    def _matches(self, pattern: str, name: str) -> bool:
        return self._search.judge.accepts(self._pattern_nodes[pattern], name)

    def _filled(self, required: Values, new: list[NewProperty]) -> Solutions:
        """Return an object with these properties, if all of them have values."""
        if self._wanted.absent & required.keys():
            return NOTHING
        built: dict[str, Json] = {}
        for name, extra in sorted(required.items()):
            found = self._value(name, extra)
            if not found.values:
                return found
            built[name] = found.values[0]
        for each in new:
            found = self._add(built, each)
            if not found.values:
                # With several new properties, one may be the other.
                return found if len(new) == 1 else UNKNOWN
        if self._wanted.most is not None and len(built) > self._wanted.most:
            return NOTHING if len(new) < 2 else UNKNOWN
        return self._enlarged(built)

    def _value(self, name: str, extra: tuple[Demand, ...]) -> Solutions:
        """Return a value of a property that is mentioned."""
        judge = self._search.judge
        if not all(judge.accepts(each.node, name) for each in self._wanted.names):
            # A format of the name may mean nothing.
            return (
                UNKNOWN
                if all(judge.accepts(each.node, name, formats=False) for each in self._wanted.names)
                else NOTHING
            )
        matching = frozenset(pattern for pattern in self._patterns if self._matches(pattern, name))
        return self._search.find((*self._goal(name, matching), *extra))

    def _goal(self, name: str | None, matching: frozenset[str]) -> tuple[Demand, ...]:
        return tuple(Demand(node, True) for shape in self._wanted.shapes for node in shape.nodes_for(name, matching))

    def _add(self, built: dict[str, Json], new: NewProperty) -> Solutions:
        """Add a property with a new name to an object."""
        excluded = frozenset(map(value_key, (*self._mentioned, *built)))
        is_complete = True
        for matching in self._matchings(new):
            self._search.spend(1)
            value = self._search.find((*self._goal(None, matching), *new.value))
            if not value.values:
                is_complete = is_complete and value.is_complete
                continue
            patterns = (Demand(node, pattern in matching) for pattern, node in self._pattern_nodes.items())
            name = self._search.find((self._string, *self._wanted.names, *new.name, *patterns), 1, excluded)
            if name.values:
                built[name.values[0]] = value.values[0]
                return Solutions([True], False)
            is_complete = is_complete and name.is_complete
        return NOTHING if is_complete else UNKNOWN

    def _matchings(self, new: NewProperty) -> Iterator[frozenset[str]]:
        """Yield the sets of patterns that the name may match."""
        for row in product((False, True), repeat=len(self._patterns)):
            matching = frozenset(pattern for pattern, is_match in zip(self._patterns, row, strict=True) if is_match)
            if not matching.isdisjoint(new.other_patterns):
                continue
            if new.matching is None or new.matching in matching:
                yield matching

    def _enlarged(self, built: dict[str, Json]) -> Solutions:
        """Return an object with enough properties, that is not excluded."""
        is_complete = True
        optional = [name for name in self._mentioned if name not in built and name not in self._wanted.absent]
        while len(built) < self._wanted.least or (value_key(built) in self._excluded and self._has_room(built)):
            if optional:
                name = optional.pop(0)
                found = self._value(name, ())
                built.update({name: found.values[0]} if found.values else {})
            else:
                found = self._add(built, NewProperty())
                if not found.values:
                    return NOTHING if is_complete and found.is_complete and not self._excluded else UNKNOWN
            is_complete = is_complete and (found.is_complete or bool(found.values))
        return Solutions([built], False)

    def _has_room(self, built: dict[str, Json]) -> bool:
        return self._wanted.most is None or len(built) < self._wanted.most
