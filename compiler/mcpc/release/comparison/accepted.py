"""Changes that a project accepts, and verdicts that it sees otherwise: `[tool.mcpc.diff]`, or a file of the same form.

accept = [{rule = "tool-removed", place = "tool:old_*", reason = "replaced in May"}]
[severity]
input-default-changed = "breaking"
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.suggestions import did_you_mean, quoted
from mcpc.release.comparison.rules import RULES, Impact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.release.comparison.model import Change


class PolicyError(ValueError):
    """A policy is not of the form that is expected."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A change that is accepted; `place` may have `*`."""

    rule: str
    place: str
    reason: str

    def fits(self, change: Change) -> bool:
        """Tell whether a change is meant."""
        return change.rule == self.rule and fnmatchcase(change.location, self.place)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a project accepts, and its own verdicts by rule."""

    accept: tuple[Acceptance, ...] = ()
    severity: Mapping[str, Impact] = field(default_factory=dict)

    def applied(self, changes: Iterable[Change]) -> tuple[list[Change], tuple[str, ...]]:
        """Return changes with the project's verdicts and acceptances, and the acceptances that fit none."""
        found: list[Change] = []
        used: set[Acceptance] = set()
        for each in changes:
            verdict = self.severity.get(each.rule, each.verdict)
            fits = next((acceptance for acceptance in self.accept if acceptance.fits(each)), None)
            used |= set() if fits is None else {fits}
            found.append(replace(each, verdict=verdict, accepted=None if fits is None else fits.reason))
        return found, tuple(f"{each.rule} at {each.place}" for each in self.accept if each not in used)


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
