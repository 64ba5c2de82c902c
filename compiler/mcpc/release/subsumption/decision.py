"""The question whether one schema accepts every value that another accepts, and the search that answers it.

The search looks for a value that the first accepts and the second does not.  A goal (schemas to match, and not to
match) leads to goals for items, properties and names.  A goal that comes up below itself has no value there: if it has
any, the smallest has no other below it (coinduction), so that recursive schemas are decided.

The number of branches is exponential in the keywords with alternatives, and a product of automata in the size of
patterns, so that work is limited; beyond the limit the answer is `undecided`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mcpc.release.subsumption.arrays import arrays
from mcpc.release.subsumption.branches import KINDS, OPAQUE, Demand, Tableau, kind_of
from mcpc.release.subsumption.judge import Judge, UnjudgedError
from mcpc.release.subsumption.nodes import Nodes
from mcpc.release.subsumption.objects import objects
from mcpc.release.subsumption.scalars import numbers, texts
from mcpc.release.subsumption.search import NOTHING, UNKNOWN, BudgetError, Solutions, value_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.release.subsumption.branches import Atom
    from mcpc.release.subsumption.search import Goal

    Json = Any

BUDGET = 40_000
"""Steps of one question: a second or so."""
UNJUDGED_COST = 1_000
"""Steps that a value counts for which the judge has followed references without end."""
MAX_DEPTH = 40
SEVERAL = 8
"""How many values are looked for if the first is not what was looked for."""
CONSTANTS: dict[str, tuple[Json, ...]] = {"null": (None,), "boolean": (False, True)}
SOLVERS: dict[str, Callable[..., Solutions]] = {"number": numbers, "string": texts, "array": arrays, "object": objects}


class Answer(StrEnum):
    """Whether a schema accepts every value that another accepts."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer.  `witness`: for NO, a value that only the first schema accepts.  `reason`: why it is undecided."""

    answer: Answer
    witness: Json = None
    reason: str = ""


def subsumes(old: Json, new: Json, kinds: Sequence[str] = KINDS, budget: int = BUDGET) -> Decision:
    """Tell whether `new` accepts every value of these JSON types that `old` accepts."""
    search = ValueSearch(budget)
    goal = (Demand(search.nodes.root(old), True), Demand(search.nodes.root(new), False))
    for count in (1, SEVERAL):
        try:
            found = search.values(goal, kinds, count)
            witness = next(([value] for value in found.values if search.is_witness(goal, value)), [])
        except BudgetError as problem:
            return Decision(Answer.UNDECIDED, reason=f"it takes too many steps: {problem}")
        except RecursionError:
            return Decision(Answer.UNDECIDED, reason="the schemas are nested too deeply")
        if witness:
            return Decision(Answer.NO, witness[0])
        if not found.values:
            break
    if found.is_complete and not found.values:
        return Decision(Answer.YES)
    return Decision(
        Answer.UNDECIDED, reason=search.reason or "no value could be found, and no proof that there is none"
    )


class ValueSearch:
    """A search for values that reach goals, with its memory."""

    def __init__(self, budget: int) -> None:
        self.nodes = Nodes()
        self.judge = Judge()
        self.reason = ""
        self._left = budget
        self._tableau = Tableau(self.nodes, self.spend)
        self._known: dict[frozenset[Demand], Solutions] = {}
        self._active: dict[frozenset[Demand], None] = {}
        self._relied: set[frozenset[Demand]] = set()

    def spend(self, amount: int) -> None:
        """Count work; raise BudgetError."""
        self._left -= amount
        if self._left < 0:
            raise BudgetError("alternatives and patterns multiply")

    def note(self, reason: str) -> None:
        """Remember the first reason why the search is incomplete."""
        self.reason = self.reason or reason

    def is_witness(self, goal: Goal, value: Json) -> bool:
        """Tell whether the judge agrees that a value reaches a goal."""
        try:
            return all(self.judge.accepts(each.node, value) is each.holds for each in goal)
        except UnjudgedError as problem:
            self.note(f"a schema cannot be used to validate values ({problem})")
            self.spend(UNJUDGED_COST)
            return False

    def find(self, goal: Goal, count: int = 1, excluded: frozenset[str] = frozenset()) -> Solutions:
        """Return up to `count` values that reach a goal."""
        key = frozenset(goal)
        is_plain = count == 1 and not excluded
        if is_plain and key in self._known:
            return self._known[key]
        if any(Demand(each.node, not each.holds) in key for each in goal):
            return NOTHING
        if key in self._active:
            self._relied.add(key)
            return NOTHING if is_plain else UNKNOWN
        if len(self._active) >= MAX_DEPTH:
            raise BudgetError(f"values are nested more than {MAX_DEPTH} deep")
        self._active[key] = None
        try:
            found = self.values(goal, KINDS, count, excluded)
        finally:
            del self._active[key]
        self._relied.discard(key)
        if is_plain and (found.values or not self._relied):
            self._known[key] = found
        return found

    def values(
        self, goal: Goal, kinds: Sequence[str], count: int = 1, excluded: frozenset[str] = frozenset()
    ) -> Solutions:
        """Return up to `count` values of these types that reach a goal."""
        values: list[Json] = []
        is_complete = True
        for kind in kinds:
            for atoms in self._tableau.branches([*goal], kind):
                found = self._solved(goal, kind, atoms, (count - len(values), excluded))
                values += found.values
                is_complete = is_complete and found.is_complete
                if len(values) >= count:
                    return Solutions(values, False)
        return Solutions(values, is_complete)

    def _solved(self, goal: Goal, kind: str, atoms: list[Atom], limits: tuple[int, frozenset[str]]) -> Solutions:
        """Return values of one branch."""
        count, excluded = limits
        listed = [atom.value for atom in atoms if atom.name == "enum" and atom.holds]
        if listed or kind in CONSTANTS:
            candidates = [value for value in (*listed, CONSTANTS.get(kind, ()))[0] if kind_of(value) == kind]
            return self._judged(goal, candidates, excluded)
        others = (value for atom in atoms if atom.name == "enum" for value in atom.value)
        excluded |= {value_key(value) for value in others if kind_of(value) == kind}
        opaque = [atom.name for atom in atoms if atom.name in OPAQUE or atom.name == "$ref"]
        found = SOLVERS[kind](self, [atom for atom in atoms if atom.name != "enum"], count, excluded)
        if not opaque:
            return found
        if found == NOTHING:
            return found  # nothing more is possible with a further constraint
        self.note(f"`{opaque[0]}` is not compared")
        return Solutions([value for value in found.values if self.is_witness(goal, value)], False)

    def _judged(self, goal: Goal, candidates: list[Json], excluded: frozenset[str]) -> Solutions:
        """Return those of some values that reach a goal, which has no others."""
        values: list[Json] = []
        is_complete = True
        for value in candidates:
            self.spend(5)
            if value_key(value) in excluded:
                continue
            if self.is_witness(goal, value):
                values.append(value)
            elif not self._is_refused(goal, value):
                self.note("the meaning of a format or a reference is open")
                is_complete = False
        return Solutions(values, is_complete)

    def _is_refused(self, goal: Goal, value: Json) -> bool:
        """Tell whether a value does not reach a goal, whether or not formats are asserted."""
        try:
            return not all(self.judge.accepts(each.node, value, formats=False) is each.holds for each in goal)
        except UnjudgedError:
            return False
