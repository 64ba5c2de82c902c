"""Reports of a run: text for people, JSON, annotations of GitHub, and JUnit for other systems."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcpc.diagnostics import Severity
from mcpc.diagnostics.formats.github import workflow_command
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.comparison.reports import xml_text
from mcpc.workbench.testing.expectations import compact
from mcpc.workbench.testing.model import Absent
from mcpc.workbench.testing.results import describe_variants, place_of
from mcpc.workbench.testing.yaml_text import list_item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpc.reading import Source
    from mcpc.workbench.testing.model import Fault, Mismatch
    from mcpc.workbench.testing.results import CaseResult, Failure

WIDTH = 78
MAX_SHOWN = 400
MAX_DIFF = 16
MAX_LOG = 8
SAID = ("answer", "answers", "error")
"""Mismatches whose two sides are sentences, and no values."""


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
        """The cases that failed."""
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
    found = fault.found.strip().splitlines() or [""]
    where = describe_variants(fault.variants, fault.tried)
    return [
        f"FAULT {visible(fault.tool)}: {visible(fault.problem)}{f' ({where})' if where else ''}",
        f"  arguments {_shown(fault.arguments)}",
        f"  found     {visible(found[0])[:MAX_SHOWN]}",
        *(f"            {visible(line)[:MAX_SHOWN]}" for line in found[1:MAX_LOG]),
        f"  repeat    {visible(run.command)} {visible(fault.tool)}",
        "  case",
        *(f"    {visible(line)}" for line in list_item(fault.case, "").splitlines()),
        "",
    ]


def summary(run: Run) -> str:
    """Return one line: how many cases passed and failed, and in how many calls."""
    failed, total = len(run.failed), len(run.results)
    calls = sum(len(each.outcomes) for each in run.results)
    counts = f"{_count(total, 'case')}, {_count(calls, 'call')}"
    verdict = f"{failed} failed" if failed else "all passed"
    faults = f", {_count(len(run.faults), 'fault')}" if run.faults else ""
    return f"{counts}: {verdict}{faults} in {run.seconds:.1f} s"


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


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
    expected, found = mismatch.expected, mismatch.found
    if isinstance(expected, str) and isinstance(found, str) and "\n" in expected and mismatch.what == "text":
        pairs = difflib.unified_diff(expected.split("\n"), found.split("\n"), "expected", "found", n=1, lineterm="")
        return [visible(each) for each in [*pairs][:MAX_DIFF]]
    if mismatch.what in SAID:
        first, *more = [visible(line)[:MAX_SHOWN] for line in str(found).splitlines() or [""]]
        return [f"expected {expected}", f"found    {first}", *(f"         {line}" for line in more[:MAX_DIFF])]
    wanted, got = _shown(expected), _shown(found)
    lines = [f"expected {wanted}", f"found    {got}"]
    at = next((at for at, (one, other) in enumerate(zip(wanted, got, strict=False)) if one != other), None)
    if at and mismatch.what == "text" and at + 9 < WIDTH:
        lines.append(" " * (at + 9) + "^")
    return lines


def _shown(value: Any) -> str:
    text = compact(value)
    return visible(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… ({len(text)} characters)")


def as_json(run: Run) -> str:
    """Return the results as one object of JSON."""
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
    found = {} if isinstance(mismatch.found, Absent) else {"found": mismatch.found}
    return {"what": mismatch.what, "expected": mismatch.expected, **found, "in": [[*each] for each in failure.variants]}


def as_github(run: Run) -> str:
    """Return an annotation for each failure, at its line, and the count as a notice."""
    lines = []
    for result in run.failed:
        for failure in result.failures:
            path, line, column = run.locate(result, failure)
            where = describe_variants(failure.variants, result.variants)
            head = f"{result.case.name}: {failure.mismatch.what}{f' ({where})' if where else ''}"
            place: dict[str, str | int] = {"file": path, "line": line, "col": column, "title": "mcpc test"}
            lines.append(workflow_command(Severity.ERROR, place, [head, *mismatch_lines(failure.mismatch)]))
    for fault in run.faults:
        lines.append(workflow_command(Severity.ERROR, {"title": "mcpc test --fuzz"}, fault_lines(run, fault)))
    notes = [workflow_command(Severity.NOTE, {"title": "mcpc test"}, [each]) for each in run.notes]
    return "".join(f"{line}\n" for line in [*lines, *notes, summary(run)])


def as_junit(run: Run) -> str:
    """Return a suite for each file, with a test case for each case."""
    root = Element("testsuites", {"name": "mcpc test", **_numbers(run.results, len(run.faults))})
    for path in dict.fromkeys(each.case.file for each in run.results):
        results = [each for each in run.results if each.case.file == path]
        suite = SubElement(root, "testsuite", {"name": xml_text(path), **_numbers(results)})
        for result in results:
            _add_case(suite, run, result)
    if run.faults:
        numbers = {"tests": str(len(run.faults)), "failures": str(len(run.faults)), "errors": "0", "time": "0"}
        suite = SubElement(root, "testsuite", {"name": "fuzzing", **numbers})
        for fault in run.faults:
            _add_fault(suite, run, fault)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'


def _numbers(results: Sequence[CaseResult], faults: int = 0) -> dict[str, str]:
    failed = sum(bool(each.failures) for each in results) + faults
    seconds = sum(each.seconds for each in results)
    return {"tests": str(len(results) + faults), "failures": str(failed), "errors": "0", "time": f"{seconds:.3f}"}


def _add_fault(suite: Element, run: Run, fault: Fault) -> None:
    facts = {"classname": "fuzzing", "name": xml_text(f"{fault.tool}: {fault.problem}"), "time": "0"}
    case = SubElement(suite, "testcase", facts)
    failure = SubElement(case, "failure", {"type": "fault", "message": xml_text(fault.problem)})
    failure.text = xml_text("\n".join(fault_lines(run, fault)))


def _add_case(suite: Element, run: Run, result: CaseResult) -> None:
    path, line, _ = run.locate(result, None)
    facts = {"classname": f"{result.case.kind}.{result.case.target}", "name": result.case.name}
    place = {"file": path, "line": str(line), "time": f"{result.seconds:.3f}"}
    case = SubElement(suite, "testcase", {key: xml_text(each) for key, each in {**facts, **place}.items()})
    if result.failures:
        lines = [*_case_lines(run, result)]
        facts = {"type": result.failures[0].mismatch.what, "message": lines[0]}
        failure = SubElement(case, "failure", {key: xml_text(each) for key, each in facts.items()})
        failure.text = xml_text("\n".join(lines))


FORMATS: dict[str, Callable[[Run], str]] = {"text": as_text, "json": as_json, "github": as_github}
"""The formats of `--format`; JUnit has its own option, since it goes to a file."""
