"""Outcomes, gathered by case: what failed in which of its ways, and the counts of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.workbench.testing.expectations import compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.reading import Source
    from mcpc.workbench.testing.model import Case, Mismatch, Outcome, Variant

NAMES = {"stdio": "stdio", "http": "HTTP"}


@dataclass(frozen=True, slots=True)
class Failure:
    """A mismatch, and the ways of its case in which it was found."""

    mismatch: Mismatch
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case, its outcomes, and its failures."""

    case: Case
    outcomes: tuple[Outcome, ...]
    failures: tuple[Failure, ...]

    @property
    def seconds(self) -> float:
        """How long all calls of the case took."""
        return sum(each.reply.milliseconds for each in self.outcomes) / 1000

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The ways in which the case ran."""
        return tuple(each.variant for each in self.outcomes)

    @property
    def passed_alone(self) -> bool:
        """Whether the case passes, but failed while other calls were made at the same time."""
        return not self.failures and any(each.is_repeated for each in self.outcomes)

    @property
    def log(self) -> str:
        """What the server wrote on standard error during the first failing call."""
        return next((each.reply.log for each in self.outcomes if each.mismatches and each.reply.log), "")


def gathered(outcomes: Iterable[Outcome]) -> list[CaseResult]:
    """Return the results of cases in the order of their files."""
    found: dict[tuple[str, int], list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault((outcome.case.file, outcome.case.number), []).append(outcome)
    return [CaseResult(each[0].case, tuple(each), _failures(each)) for _, each in sorted(found.items())]


def _failures(outcomes: list[Outcome]) -> tuple[Failure, ...]:
    found: dict[str, tuple[Mismatch, list[Variant]]] = {}
    for outcome in outcomes:
        for each in outcome.mismatches:
            key = json.dumps([each.what, compact(each.expected), compact(each.found)])
            found.setdefault(key, (each, []))[1].append(outcome.variant)
    return tuple(Failure(mismatch, tuple(variants)) for mismatch, variants in found.values())


def describe_variants(variants: Iterable[Variant], of: Iterable[Variant]) -> str:
    """Return in which ways something was found, in words; an empty text for all of several."""
    some, every = set(variants), set(of)
    if some == every:
        return ""
    for at in (0, 1):
        names = {each[at] for each in some}
        if len(names) == 1 and some == {each for each in every if each[at] in names}:
            name = names.pop()
            return f"{NAMES[name]} only" if at == 0 else f"{name} era only"
    return ", ".join(f"{NAMES[each.transport]} {each.era}" for each in sorted(some))


def place_of(result: CaseResult, failure: Failure | None, sources: Mapping[str, Source]) -> tuple[str, int, int]:
    """Return the file, line and column of a failure: of the expectation if the file states it, else of the case."""
    node = failure.mismatch.node if failure else None
    start = node.start if node is not None else result.case.node.start
    return (result.case.file, *sources[result.case.file].position(start))
