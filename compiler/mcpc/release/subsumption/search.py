"""Types of the search that the procedures for each JSON type share: a goal, what was found, and the limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.release.subsumption.branches import Demand
    from mcpc.release.subsumption.judge import Judge
    from mcpc.release.subsumption.nodes import Nodes

    Json = Any
    Goal = tuple[Demand, ...]


class BudgetError(Exception):
    """The search has used up its work; the message says what it was for."""


class Solutions(NamedTuple):
    """Values that reach a goal.  `is_complete`: there are no others, which is proved."""

    values: list[Json]
    is_complete: bool


NOTHING, UNKNOWN = Solutions([], True), Solutions([], False)


class Search(Protocol):
    """The search, as the procedures for arrays and objects use it for items, names and properties."""

    nodes: Nodes
    judge: Judge

    def find(self, goal: Goal, count: int = 1, excluded: frozenset[str] = frozenset()) -> Solutions:
        """Return up to `count` values that reach a goal; `excluded`: keys of values that are of no use."""

    def spend(self, amount: int) -> None:
        """Count work; raise BudgetError."""

    def note(self, reason: str) -> None:
        """Remember why a part of the search is incomplete."""


def value_key(value: Json) -> str:
    """Return a text that is the same for equal values of JSON: 1 and 1.0 are equal, 1 and true are not."""
    return json.dumps(_canonical(value), sort_keys=True)


def value_keys(values: Iterable[Json]) -> frozenset[str]:
    """Return the keys of values."""
    return frozenset(map(value_key, values))


def _canonical(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [*map(_canonical, value)]
    if isinstance(value, dict):
        return {name: _canonical(each) for name, each in value.items()}
    return value
