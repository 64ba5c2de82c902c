"""Outcomes, gathered by case, and reports of a run: text for people, JSON, annotations of GitHub, and JUnit."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Severity
from mcpc.diagnostics.formats.findings import JunitCase, ReportFinding, github_annotations, junit_report
from mcpc.diagnostics.formats.visible import visible
from mcpc.diagnostics.model import counted
from mcpc.workbench.testing.expectations import compact
from mcpc.workbench.testing.model import Absent
from mcpc.workbench.testing.yaml_text import list_item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mcpc.reading import Source
    from mcpc.workbench.testing.model import Case, Fault, Mismatch, Outcome, Variant


NAMES = {"stdio": "stdio", "http": "HTTP"}
WIDTH = 78
MAX_SHOWN = 400
MAX_DIFF = 16
MAX_LOG = 8
SAID = ("answer", "answers", "error")
"""Mismatches whose two sides are sentences, and no values."""


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
    by_case: dict[tuple[str, int], list[Outcome]] = {}
    for outcome in outcomes:
        by_case.setdefault((outcome.case.file, outcome.case.number), []).append(outcome)
    # Cases ran in the order of their environments.
    return [CaseResult(each[0].case, tuple(each), _failures(each)) for _, each in sorted(by_case.items())]


def _failures(outcomes: list[Outcome]) -> tuple[Failure, ...]:
    mismatches: dict[str, tuple[Mismatch, list[Variant]]] = {}
    for outcome in outcomes:
        for each in outcome.mismatches:
            key = json.dumps([each.what, compact(each.expected), compact(each.found)])
            mismatches.setdefault(key, (each, []))[1].append(outcome.variant)
    return tuple(Failure(mismatch, tuple(variants)) for mismatch, variants in mismatches.values())


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


@dataclass(frozen=True, slots=True)
class Run:
    """All that a report shows.

    `prefix`: of the paths of files, from the working folder.  `command`: what finds a fault again, before the tool.
    """

    results: Sequence[CaseResult]
    sources: Mapping[str, Source]
    seconds: float
    prefix: str = ""
    notes: list[str] = field(default_factory=list)
    faults: Sequence[Fault] = ()
    command: str = ""

    @property
    def failed(self) -> list[CaseResult]:
        return [each for each in self.results if each.failures]

    def locate(self, result: CaseResult, failure: Failure | None) -> tuple[str, int, int]:
        """Return the place of a failure, as the user sees the file."""
        path, line, column = place_of(result, failure, self.sources)
        return f"{self.prefix}{path}", line, column


def as_text(run: Run) -> str:
    """Return the failures, each with what was expected and found, and one line that counts."""
    lines = [line for result in run.failed for line in _case_lines(run, result)]
    lines += [line for fault in run.faults for line in fault_lines(run, fault)]
    lines += [visible(note) for note in run.notes]
    return "".join(f"{line}\n" for line in [*lines, summary(run)])


def fault_lines(run: Run, fault: Fault) -> list[str]:
    """Return what fuzzing has found: the smallest arguments, the reply, how to find it again, and a case."""
    lines = fault.found.strip().splitlines() or [""]
    where = describe_variants(fault.variants, fault.tried)
    return [
        f"FAULT {visible(fault.tool)}: {visible(fault.problem)}{f' ({where})' if where else ''}",
        f"  arguments {_shown(fault.arguments)}",
        f"  found     {visible(lines[0])[:MAX_SHOWN]}",
        *(f"            {visible(line)[:MAX_SHOWN]}" for line in lines[1:MAX_LOG]),
        f"  repeat    {visible(run.command)} {visible(fault.tool)}",
        "  case",
        *(f"    {visible(line)}" for line in list_item(fault.case, "").splitlines()),
        "",
    ]


def summary(run: Run) -> str:
    """Return one line: how many cases passed and failed, and in how many calls."""
    failed, total = len(run.failed), len(run.results)
    calls = sum(len(each.outcomes) for each in run.results)
    counts = f"{counted(total, 'case')}, {counted(calls, 'call')}"
    verdict = f"{failed} failed" if failed else "all passed"
    faults = f", {counted(len(run.faults), 'fault')}" if run.faults else ""
    return f"{counts}: {verdict}{faults} in {run.seconds:.1f} s"


def _case_lines(run: Run, result: CaseResult) -> Iterator[str]:
    path, line, _ = run.locate(result, None)
    yield f"FAIL {visible(path)}:{line} {visible(result.case.name)}"
    for failure in result.failures:
        where = describe_variants(failure.variants, result.variants)
        yield f"  {visible(failure.mismatch.what)}{f' ({where})' if where else ''}"
        for each in mismatch_lines(failure.mismatch):
            yield f"    {each}"
    log = result.log.strip().splitlines()[-MAX_LOG:]
    if log:
        yield "  standard error of the server"
        yield from (f"    {visible(each)[: WIDTH * 2]}" for each in log)
    yield ""


def mismatch_lines(mismatch: Mismatch) -> list[str]:
    """Return what was expected and found, one below the other; of texts with several lines the lines that differ."""
    expected, actual = mismatch.expected, mismatch.found
    if isinstance(expected, str) and isinstance(actual, str) and "\n" in expected and mismatch.what == "text":
        pairs = difflib.unified_diff(expected.split("\n"), actual.split("\n"), "expected", "found", n=1, lineterm="")
        return [visible(each) for each in [*pairs][:MAX_DIFF]]
    if mismatch.what in SAID:
        first, *more = [visible(line)[:MAX_SHOWN] for line in str(actual).splitlines() or [""]]
        return [f"expected {expected}", f"found    {first}", *(f"         {line}" for line in more[:MAX_DIFF])]
    wanted, got = _shown(expected), _shown(actual)
    lines = [f"expected {wanted}", f"found    {got}"]
    at = next((at for at, (one, other) in enumerate(zip(wanted, got, strict=False)) if one != other), None)
    # 9 columns are those of `expected ` and `found    `.
    if at and mismatch.what == "text" and at + 9 < WIDTH:
        lines.append(" " * (at + 9) + "^")
    return lines


def _shown(value: Any) -> str:
    text = compact(value)
    return visible(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… ({len(text)} characters)")


def as_json(run: Run) -> str:
    cases = [
        {
            "file": result.case.file,
            "line": run.locate(result, None)[1],
            "name": result.case.name,
            result.case.kind: result.case.target,
            "passed": not result.failures,
            "calls": [
                {"transport": each.variant.transport, "era": each.variant.era, "passed": not each.mismatches}
                for each in result.outcomes
            ],
            "failures": [_failure_object(each) for each in result.failures],
        }
        for result in run.results
    ]
    faults = [
        {"tool": each.tool, "problem": each.problem, "found": each.found, "case": each.case, "in": [*each.variants]}
        for each in run.faults
    ]
    whole = {"cases": len(cases), "failed": len(run.failed), "results": cases, "faults": faults, "notes": run.notes}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _failure_object(failure: Failure) -> dict[str, Any]:
    mismatch = failure.mismatch
    answer = {} if isinstance(mismatch.found, Absent) else {"found": mismatch.found}
    return {
        "what": mismatch.what,
        "expected": mismatch.expected,
        **answer,
        "in": [[*each] for each in failure.variants],
    }


def as_github(run: Run) -> str:
    """Return an annotation for each failure, at its line, and the count as a notice."""
    findings = []
    for result in run.failed:
        for failure in result.failures:
            path, *place = run.locate(result, failure)
            where = describe_variants(failure.variants, result.variants)
            head = f"{result.case.name}: {failure.mismatch.what}{f' ({where})' if where else ''}"
            details = tuple(mismatch_lines(failure.mismatch))
            findings.append(ReportFinding("mcpc test", Severity.ERROR, head, details, path, tuple(place)))
    for fault in run.faults:
        first, *more = fault_lines(run, fault)
        findings.append(ReportFinding("mcpc test --fuzz", Severity.ERROR, first, tuple(more)))
    findings += [ReportFinding("mcpc test", Severity.NOTE, note) for note in run.notes]
    return f"{github_annotations(findings)}{summary(run)}\n"


def as_junit(run: Run) -> str:
    """Return a suite for each file, with a test case for each case."""
    suites: dict[str, list[JunitCase]] = {}
    for result in run.results:
        suites.setdefault(result.case.file, []).append(_junit_case(run, result))
    if run.faults:
        suites["fuzzing"] = [_junit_fault(run, fault) for fault in run.faults]
    return junit_report("mcpc test", [*suites.items()])


def _junit_case(run: Run, result: CaseResult) -> JunitCase:
    lines = [*_case_lines(run, result)] if result.failures else [""]
    failure = (result.failures[0].mismatch.what, lines[0]) if result.failures else None
    group, text = f"{result.case.kind}.{result.case.target}", "\n".join(lines)
    path, line, _ = run.locate(result, None)
    return JunitCase(group, result.case.name, failure, text, seconds=result.seconds, place=(path, line))


def _junit_fault(run: Run, fault: Fault) -> JunitCase:
    text = "\n".join(fault_lines(run, fault))
    return JunitCase("fuzzing", f"{fault.tool}: {fault.problem}", ("fault", fault.problem), text)


FORMATS: dict[str, Callable[[Run], str]] = {"text": as_text, "json": as_json, "github": as_github}
"""The formats of `--format`; JUnit has its own option, since it goes to a file."""
