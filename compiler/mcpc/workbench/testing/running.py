"""Every case in every era over every transport: one server for each transport and environment, O(cases).

Calls that change nothing are made several at a time; all others alone, in the order of the files.  A call that fails
among others is made again alone, and that decides: a run finds what it would find with one call at a time.
"""

from __future__ import annotations

import hashlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from typing import TYPE_CHECKING, Any, NoReturn

from mcpc.client.client import ConversationError
from mcpc.sandbox import programs
from mcpc.sandbox.cache_dir import load_entry, store_entry
from mcpc.schema import SchemaError, compile
from mcpc.workbench.dev.building import POLL_SECONDS, SETTLE_SECONDS, Fingerprint, compiler_command, fingerprint
from mcpc.workbench.testing.api_stub import AnsweredConnection, api_stub
from mcpc.workbench.testing.expectations import Judging, differences
from mcpc.workbench.testing.model import ERAS, TRANSPORTS, Mismatch, Outcome, Reply, Variant
from mcpc.workbench.testing.servers import Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpc.schema import Validator
    from mcpc.workbench.testing.model import Case
    from mcpc.workbench.testing.reports import CaseResult
    from mcpc.workbench.testing.servers import Served

    Call = tuple[Case, Variant]
    Servers = Connection | AnsweredConnection

AHEAD = 4
"""How many calls for each job are made at a time if the first failure ends the run."""
FAILED_CASES = "failed-cases"


@dataclass(frozen=True, slots=True)
class VariantSelection:
    """Which ways of the selected cases run, and how many at a time.

    `read_only`: the names of the tools that say that they change nothing.
    """

    transports: tuple[str, ...] = TRANSPORTS
    eras: tuple[str, ...] = ERAS
    is_first_only: bool = False
    jobs: int = 1
    read_only: frozenset[str] = frozenset()

    @property
    def selected(self) -> tuple[Variant, ...]:
        """All selected variants, the simplest to debug first: stateless, over standard input and output."""
        return tuple(
            Variant(transport, era)
            for transport, era in product(TRANSPORTS, reversed(ERAS))
            if transport in self.transports and era in self.eras
        )

    def variants(self, case: Case) -> list[Variant]:
        """Return the ways in which a case runs."""
        return [each for each in case.variants if each.transport in self.transports and each.era in self.eras]

    def is_serial(self, case: Case) -> bool:
        """Tell whether a case runs alone: its file demands it, or it may change something, is asked, or is timed."""
        if case.responses is not None:  # what comes to the stub belongs to the one call
            return True
        if self.jobs == 1 or case.serial is not None:
            return self.jobs == 1 or case.serial is True
        is_timed = case.expect is not None and case.expect.get("within_ms") is not None
        return is_timed or bool(case.answers) or (case.kind == "tool" and case.target not in self.read_only)

    def batches(self, cases: Iterable[Case]) -> Iterator[list[Call]]:
        """Yield the calls of cases, those together that are made at a time."""
        for is_serial, part in groupby(cases, key=self.is_serial):
            calls = [(case, variant) for case in part for variant in self.variants(case)]
            size = 1 if is_serial else self.jobs * AHEAD if self.is_first_only else max(len(calls), 1)
            for start in range(0, len(calls), size):
                yield calls[start : start + size]


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


def is_read_only(tool: Mapping[str, Any]) -> bool:
    """Tell whether a tool says that it changes nothing."""
    hints = tool.get("annotations")
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True


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
    # The sort is stable: in one environment the order of the files stays.
    for (environment, is_answered), group in groupby(sorted(cases, key=place_of), key=place_of):
        with connection_for(served, dict(environment), is_answered=is_answered) as connection:
            for batch in selection.batches(group):
                for outcome in run_batch(batch, connection, outputs, selection.jobs):
                    yield outcome
                    if outcome.mismatches and selection.is_first_only:
                        return


def place_of(case: Case) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Return what cases have in common that share servers."""
    return case.environment, case.responses is not None


@contextmanager
def connection_for(served: Served, environment: Mapping[str, str], *, is_answered: bool) -> Iterator[Servers]:
    """Yield the servers of an environment; their requests go to a stub if the cases have the answers."""
    if not is_answered:
        with Connection(served.with_variables(environment)) as connection:
            yield connection
        return
    with api_stub() as stub:
        addresses = stub.addresses(served.bases, environment)
        with Connection(served.with_variables({**environment, **addresses})) as connection:
            yield AnsweredConnection(connection, stub)


def run_batch(batch: Sequence[Call], connection: Servers, outputs: OutputValidators, jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes of calls that may be made at a time, in their order; those that fail are made again alone."""

    def run(call: Call) -> Outcome:
        case, variant = call
        return run_case(case, variant, connection, outputs)

    if len(batch) == 1:
        yield run(batch[0])
        return
    pool = ThreadPoolExecutor(jobs, "mcpc-test")
    try:
        outcomes = [*pool.map(run, batch)]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a call that still waits ends with its server
    for call, outcome in zip(batch, outcomes, strict=True):
        yield replace(run(call), is_repeated=differs_itself(outcome)) if outcome.mismatches else outcome


def differs_itself(outcome: Outcome) -> bool:
    """Tell whether a reply was there and differs: a server may also have ended in the call of another case."""
    return any(each.what not in ("answer", "answers") for each in outcome.mismatches)


def run_case(case: Case, variant: Variant, connection: Servers, outputs: OutputValidators) -> Outcome:
    try:
        reply = connection.call(case, variant)
    except ConversationError as problem:
        return Outcome(case, variant, (Mismatch("answer", "an answer", str(problem)),), Reply(is_error=True))
    output = outputs.of(case.target) if case.kind == "tool" else None
    return Outcome(case, variant, differences(case, Judging(reply, output)), reply)


def failed_cases(folder: Path, cases: Iterable[Case]) -> list[Case]:
    """Return those of the cases of a folder that failed when they last ran."""
    names = _names_of_failed(folder)
    return [case for case in cases if _name_of(case) in names]


def remember_failed(folder: Path, results: Iterable[CaseResult]) -> None:
    """Note which cases failed now; what is known of cases that did not run stays."""
    has_failures = {_name_of(result.case): bool(result.failures) for result in results}
    before = _names_of_failed(folder)
    names = {name for name in before if name not in has_failures} | {
        name for name, failed in has_failures.items() if failed
    }
    if names != before:
        store_entry(FAILED_CASES, _cache_key(folder), json.dumps(sorted(names)).encode())


def _names_of_failed(folder: Path) -> set[str]:
    data = load_entry(FAILED_CASES, _cache_key(folder))
    return set(json.loads(data)) if data else set()


def _cache_key(folder: Path) -> str:
    return hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()


def _name_of(case: Case) -> str:
    return f"{case.file}\n{case.name}"


def watch(root: Path, words: Sequence[str], ended: Callable[[], None]) -> NoReturn:
    """Run the tests with the options `words` until the user interrupts; `ended` is called after each run."""
    is_again = False
    while True:
        before = fingerprint(root)
        programs.run_in_foreground("compiler", compiler_command("test", *words))
        ended()
        after = fingerprint(root)
        # Once only: tests that write files of the project would run without an end.
        is_again = after != before and not is_again
        if not is_again:
            wait_for_change(root, after)


def wait_for_change(root: Path, known: Fingerprint) -> None:
    """Return when the files differ from a known state, and are stable."""
    while (current := fingerprint(root)) == known:
        time.sleep(POLL_SECONDS)
    while True:
        time.sleep(SETTLE_SECONDS)
        earlier, current = current, fingerprint(root)
        if current == earlier:
            return
