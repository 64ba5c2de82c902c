"""Every case in every era over every transport: one server for each transport and environment, O(cases)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby, product
from typing import TYPE_CHECKING, Any

from mcpc.schema import SchemaError, compile
from mcpc.server_lists.client import ConversationError
from mcpc.testing.expectations import Judging, differences
from mcpc.testing.model import ERAS, TRANSPORTS, Mismatch, Outcome, Reply, Variant
from mcpc.testing.servers import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.schema import Validator
    from mcpc.testing.model import Case
    from mcpc.testing.servers import Served


@dataclass(frozen=True, slots=True)
class VariantSelection:
    """Which ways of the selected cases run."""

    transports: tuple[str, ...] = TRANSPORTS
    eras: tuple[str, ...] = ERAS
    is_first_only: bool = False

    @property
    def ways(self) -> tuple[Variant, ...]:
        """All selected ways, the simplest to debug first: stateless, over standard input and output."""
        return tuple(
            Variant(transport, era)
            for transport, era in product(TRANSPORTS, reversed(ERAS))
            if transport in self.transports and era in self.eras
        )

    def variants(self, case: Case) -> list[Variant]:
        """Return the ways in which a case runs."""
        return [each for each in case.variants if each.transport in self.transports and each.era in self.eras]


@dataclass(slots=True)
class OutputValidators:
    """The validators of output schemas, each compiled when the first reply of its tool is there."""

    schemas: Mapping[str, Any]
    _compiled: dict[str, Validator | None] = field(default_factory=dict)

    def of(self, tool: str) -> Validator | None:
        """Return the validator of a tool; None if it has no output schema."""
        if tool not in self._compiled:
            self._compiled[tool] = compiled(self.schemas.get(tool))
        return self._compiled[tool]


def compiled(schema: Any) -> Validator | None:
    """Return the validator of a schema; None if there is none, or if it cannot be compiled."""
    try:
        return None if schema is None else compile(schema)
    except SchemaError:
        return None


def run_cases(
    cases: Sequence[Case], served: Served, selection: VariantSelection, outputs: OutputValidators
) -> Iterator[Outcome]:
    """Yield the outcome of every case in every way; cases with one environment share their servers."""
    for environment, group in groupby(
        sorted(cases, key=lambda case: case.environment), key=lambda case: case.environment
    ):
        with Connection(served.with_variables(dict(environment))) as connection:
            for case in group:
                for variant in selection.variants(case):
                    outcome = run_case(case, variant, connection, outputs)
                    yield outcome
                    if outcome.mismatches and selection.is_first_only:
                        return


def run_case(case: Case, variant: Variant, connection: Connection, outputs: OutputValidators) -> Outcome:
    """Return the outcome of one case in one way."""
    try:
        reply = connection.call(case, variant)
    except ConversationError as problem:
        return Outcome(case, variant, (Mismatch("answer", "an answer", str(problem)),), Reply(is_error=True))
    output = outputs.of(case.target) if case.kind == "tool" else None
    return Outcome(case, variant, differences(case, Judging(reply, output)), reply)
