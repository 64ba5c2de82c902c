"""`ReportFinding`: one result of a check, a scan, a comparison or a test, and the formats that all of them share.

Commands make findings of what they found; GitHub's annotations, SARIF and JUnit are written here alone.  Texts of
definitions are untrusted: what could control a terminal or end an element is escaped.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcpc import __version__
from mcpc.diagnostics.formats.visible import visible
from mcpc.diagnostics.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Json = dict[str, object]

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
# What workflow commands of GitHub escape, in one pass: the `%` of an escape is not escaped again.
IN_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_TEXT | str.maketrans({":": "%3A", ",": "%2C"})
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "WORKINGDIRECTORY"
"""The base of relative file names in SARIF."""
REGION = ("startLine", "startColumn", "endLine", "endColumn")
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot have."""


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """One result.  `rule`: its code; `details`: the lines after the message.

    `path`: the file that it is in; `region`: line and column of its first character, and of the one
    after the last.  `subject`: the server and the definition that it is of, empty if its place says enough.
    """

    rule: str
    severity: Severity
    message: str
    details: tuple[str, ...] = ()
    path: str | None = None
    region: tuple[int, ...] = ()
    subject: tuple[str, ...] = ()


def github_annotations(findings: Iterable[ReportFinding]) -> str:
    """Return one workflow command of GitHub Actions per line for each finding; empty if there are none."""
    return "".join(f"{_workflow_command(finding)}\n" for finding in findings)


def _workflow_command(finding: ReportFinding) -> str:
    properties: dict[str, str | int] = {} if finding.path is None else {"file": visible(finding.path)}
    if finding.region:
        line, column, *end = finding.region
        # Columns are shown only where beginning and end share a line.
        if end and end[0] != line:
            properties |= {"line": line, "endLine": end[0]}
        else:
            properties |= {"line": line, "col": column, **({"endColumn": end[1]} if end else {})}
    properties["title"] = finding.rule
    written = ",".join(f"{name}={str(value).translate(IN_PROPERTY)}" for name, value in properties.items())
    message = "\n".join(visible(line) for line in (finding.message, *finding.details))
    return f"::{COMMANDS[finding.severity]} {written}::{message.translate(IN_TEXT)}"


def sarif_log(findings: Sequence[ReportFinding], rules: Mapping[str, Json], base: str = "") -> str:
    """Return a log of SARIF 2.1.0 with one run, which code scanning services and editors read.

    `rules`: by code, those that occur.  `base`: the URI of the folder that file names are relative to, with a final
    slash.
    """
    codes = [*rules]
    run = {
        "tool": {"driver": {"name": "mcpc", "version": __version__, "rules": [*rules.values()]}},
        "originalUriBaseIds": {BASE: {"uri": base} if base else {"description": {"text": "Where mcpc was run."}}},
        # Columns are counted in code points; SARIF would assume UTF-16 units.
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes.index(finding.rule)) for finding in findings],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: ReportFinding, rule: int) -> Json:
    location: Json = {}
    if finding.subject:
        location["logicalLocations"] = [{"fullyQualifiedName": visible("/".join(finding.subject)), "kind": "member"}]
    if finding.path is not None:
        location["physicalLocation"] = _physical_location(finding.path, finding.region)
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        # Severities are called as the levels of SARIF are.
        "level": finding.severity.value,
        "message": {"text": "\n".join((finding.message, *finding.details))},
        "locations": [location] if location else [],
    }
    if finding.subject:
        # By this a service knows a finding again whose lines have moved.
        result["partialFingerprints"] = {"place/v1": visible(" ".join((finding.rule, *finding.subject)))}
    return result


def _physical_location(path: str, region: tuple[int, ...]) -> Json:
    if PurePath(path).is_absolute():
        place = {"uri": PurePath(path).as_uri()}
    else:
        place = {"uri": quote(path, errors="surrogateescape"), "uriBaseId": BASE}
    return {"artifactLocation": place, **({"region": dict(zip(REGION, region, strict=True))} if region else {})}


@dataclass(frozen=True, slots=True)
class JunitCase:
    """A test case of JUnit.

    `failure`: its type and message, None for a case that passed; `is_skipped`: it is reported, and does not fail;
    `text`: what is to be known of it.  `place`: its file and line.
    """

    group: str
    name: str
    failure: tuple[str, str] | None = None
    text: str = ""
    is_skipped: bool = False
    seconds: float = 0.0
    place: tuple[str, int] | None = None


def junit_report(title: str, suites: Sequence[tuple[str, Sequence[JunitCase]]]) -> str:
    """Return test suites as JUnit XML, which GitLab and other systems show as test results."""
    root = Element("testsuites", {"name": title, **_numbers([case for _, cases in suites for case in cases])})
    for name, cases in suites:
        suite = SubElement(root, "testsuite", {"name": xml_text(name), **_numbers(cases)})
        for case in cases:
            _add_case(suite, case)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'


def _numbers(cases: Sequence[JunitCase]) -> dict[str, str]:
    skipped = sum(case.is_skipped for case in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.failure is not None and not case.is_skipped for case in cases)),
        **({"skipped": str(skipped)} if skipped else {}),
        "errors": "0",
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _add_case(suite: Element, case: JunitCase) -> None:
    place = {"file": xml_text(case.place[0]), "line": str(case.place[1])} if case.place else {}
    facts = {"classname": xml_text(case.group), "name": xml_text(case.name), **place, "time": f"{case.seconds:.3f}"}
    element = SubElement(suite, "testcase", facts)
    if case.failure is not None:
        kind, message = case.failure
        attributes = {"message": xml_text(message)} if case.is_skipped else {"type": kind, "message": xml_text(message)}
        element = SubElement(element, "skipped" if case.is_skipped else "failure", attributes)
    elif case.text:
        element = SubElement(element, "system-out")
    if case.text:
        element.text = xml_text(case.text)


def xml_text(text: str) -> str:
    """Return a text without what XML 1.0 cannot have, and with what is hidden made visible."""
    return "\n".join(visible(FORBIDDEN.sub("\ufffd", line)) for line in text.split("\n"))
