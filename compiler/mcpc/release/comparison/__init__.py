"""The differences between two versions of a server, and what each means to its clients.

rules.py          every kind of change, with its stable id and its verdict; one change; likely new names
compare.py        all changes of a server, the next version, and what a project accepts
items.py          tools, prompts, resources and templates: gone, new, and what is told of them
server_facts.py   the server itself
schemas.py        input and output schemas
inclusion.py      whether a schema accepts all that another accepts
constraints.py    the rule of each keyword
placed_schemas.py schemas in their documents, and the types of their values
reports.py        formats

The version is by Semantic Versioning: what breaks needs a major version, or a minor one below 1.0.  A project accepts
changes, or sees verdicts otherwise, in `[tool.mcpc.diff]` or a file of the same form:

accept = [{rule = "tool-removed", place = "tool:old_*", reason = "replaced in May"}]
[severity]
input-default-changed = "breaking"
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.release.comparison.items import PROMPTS, RESOURCES, TEMPLATES, TOOLS, as_operation, item_changes
from mcpc.release.comparison.rules import RULES, Change, Comparison, Impact, in_order
from mcpc.release.comparison.server_facts import server_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.client import ServerLists

__all__ = ["Change", "Comparison", "Impact", "compare"]

NUMBER = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:[-+.].*)?")
LEVELS = ("none", "patch", "minor", "major")


def level_of(changes: Iterable[Change]) -> str:
    """Return the part of the version number that changes call for; what is undecided is taken as breaking."""
    # A new version number alone is no reason for a new version number.
    verdicts = {each.verdict for each in changes if each.rule != "version-changed"}
    if verdicts & {Impact.BREAKING, Impact.UNDECIDED}:
        return "major"
    if Impact.ADDITIVE in verdicts:
        return "minor"
    return "patch" if verdicts else "none"


def next_version(old: str, level: str) -> str | None:
    """Return the lowest version that changes of this level may have; None if the old one is not of the form 1.2.3."""
    numbers = NUMBER.fullmatch(old)
    if numbers is None:
        return None
    major, minor, patch = map(int, numbers.groups())
    if level == "major" and major > 0:
        return f"{major + 1}.0.0"
    if level in ("major", "minor"):
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}" if level == "patch" else old


def is_enough(new: str, suggested: str | None) -> bool | None:
    """Tell whether a version is at least the suggested one; None if they cannot be compared.

    A pre-release of the suggested version is enough.
    """
    try:
        return suggested is not None and Version(Version(new).base_version) >= Version(Version(suggested).base_version)
    except InvalidVersion:
        return None


class PolicyError(ValueError):
    """A policy is not of the form that is expected."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A change that is accepted; `place` may have `*`."""

    rule: str
    place: str
    reason: str

    def fits(self, change: Change) -> bool:
        return change.rule == self.rule and fnmatchcase(change.location, self.place)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a project accepts, and its own verdicts by rule."""

    accept: tuple[Acceptance, ...] = ()
    severity: Mapping[str, Impact] = field(default_factory=dict)

    def applied(self, changes: Iterable[Change]) -> tuple[list[Change], tuple[str, ...]]:
        """Return changes with the project's verdicts and acceptances, and the acceptances that fit none."""
        judged: list[Change] = []
        used: set[Acceptance] = set()
        for each in changes:
            verdict = self.severity.get(each.rule, each.verdict)
            # Only the first that fits counts as used: another one that covers the same changes is reported as needless.
            fits = next((acceptance for acceptance in self.accept if acceptance.fits(each)), None)
            used |= set() if fits is None else {fits}
            judged.append(replace(each, verdict=verdict, accepted=None if fits is None else fits.reason))
        return judged, tuple(f"{each.rule} at {each.place}" for each in self.accept if each not in used)


def read_policy(table: Mapping[str, Any]) -> Policy:
    """Return the policy of a table; raise PolicyError."""
    unknown = sorted(table.keys() - {"accept", "severity"})
    if unknown:
        raise PolicyError(f"`{unknown[0]}` is unknown; expected `accept` or `severity`")
    rows, severity = table.get("accept", []), table.get("severity", {})
    if not isinstance(rows, list) or not isinstance(severity, dict):
        raise PolicyError("`accept` has to be a list of tables, and `severity` a table")
    return Policy(tuple(map(_acceptance, rows)), {_rule(name): _verdict(each) for name, each in severity.items()})


def _acceptance(row: Any) -> Acceptance:
    if not isinstance(row, dict) or not row.keys() <= {"rule", "place", "reason"} or "rule" not in row:
        raise PolicyError("an item of `accept` has `rule`, and may have `place` and `reason`")
    if not all(isinstance(each, str) for each in row.values()):
        raise PolicyError("`rule`, `place` and `reason` are texts")
    return Acceptance(_rule(row["rule"]), row.get("place", "*"), row.get("reason", ""))


def _rule(name: str) -> str:
    if name not in RULES:
        hint = did_you_mean(name, RULES, "docs/diff.md lists all rules")
        raise PolicyError(f"there is no rule `{name}`; {hint}")
    return name


def _verdict(name: Any) -> Impact:
    if name not in [*Impact]:
        raise PolicyError(f"`{name}` is not a verdict; expected one of {quoted(Impact)}")
    return Impact(name)


NO_POLICY = Policy()


def compare(old: ServerLists, new: ServerLists, policy: Policy = NO_POLICY) -> Comparison:
    """Return the comparison of two versions of a server."""
    changes, unused = policy.applied(all_changes(old, new))
    level = level_of(changes)
    suggested = next_version(old.version, level)
    fits = None if suggested is None else is_enough(new.version, suggested)
    return Comparison(old, new, in_order(changes), suggested, level, fits, unused)


def all_changes(old: ServerLists, new: ServerLists) -> Iterator[Change]:
    # A tool that is found by other tools can be called all the same: out of the list it is changed, and not gone.
    yield from item_changes(TOOLS, *([*one.tools, *map(as_operation, one.operations)] for one in (old, new)))
    yield from item_changes(PROMPTS, old.prompts, new.prompts)
    yield from item_changes(RESOURCES, old.resources, new.resources)
    yield from item_changes(TEMPLATES, old.templates, new.templates)
    yield from server_changes(old, new)
