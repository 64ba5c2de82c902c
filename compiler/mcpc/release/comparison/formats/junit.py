"""Format of JUnit, which GitLab and other systems show as test results: a test case for each change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.comparison.formats.lines import details, fails, item_text

if TYPE_CHECKING:
    from mcpc.release.comparison.model import Change, Comparison
    from mcpc.release.comparison.rules import Impact

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot have."""


def as_junit(comparison: Comparison, failing: frozenset[Impact]) -> str:
    """Return the changes as test cases; what fails the gate is a failure.  Without changes there is one that passes."""
    count = sum(fails(each, failing) for each in comparison.changes)
    numbers = {"tests": str(max(len(comparison.changes), 1)), "failures": str(count), "errors": "0", "time": "0"}
    suites = Element("testsuites", {"name": "mcpc diff", **numbers})
    suite = SubElement(suites, "testsuite", {"name": xml_text(comparison.new.name or "server"), **numbers})
    for each in comparison.changes:
        _add_case(suite, each, failing)
    if not comparison.changes:
        SubElement(suite, "testcase", {"classname": "mcpc.diff", "name": "no changes", "time": "0"})
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, "unicode")}\n'


def _add_case(suite: Element, change: Change, failing: frozenset[Impact]) -> None:
    name = xml_text(f"{item_text(change)}: {change.message}")
    case = SubElement(suite, "testcase", {"classname": f"mcpc.diff.{change.verdict}", "name": name, "time": "0"})
    lines = [f"{change.rule} at {change.location}", *details(change)]
    if fails(change, failing):
        SubElement(case, "failure", {"type": change.rule, "message": name}).text = xml_text("\n".join(lines))
    else:
        SubElement(case, "system-out").text = xml_text("\n".join(lines))


def xml_text(text: str) -> str:
    """Return a text without what XML 1.0 cannot have, and with what is hidden made visible."""
    return "\n".join(visible(FORBIDDEN.sub("\ufffd", line)) for line in text.split("\n"))
