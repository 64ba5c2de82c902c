"""Findings that a project or the caller ignores: a code, and the place where it is ignored.

    ignore = ["SCAN605 tool login", "SCAN501"]          # [tool.mcpc.scan] of pyproject.toml

A place is `tool NAME`, `tool NAME: FIELD`, `prompt NAME`, `entry NAME`, `file PATH` or `server`, with `*` for any
characters.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mcpc.reading.toml import parse_toml
from mcpc.release.scan.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.release.scan.model import Finding

SETTINGS = frozenset({"ignore"})


class IgnoreError(ValueError):
    """An entry of `ignore` cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """One entry: a code, and the places; all places if that is empty."""

    code: str
    place: str = ""

    def matches(self, finding: Finding) -> bool:
        """Tell whether a finding is ignored."""
        if finding.code != self.code:
            return False
        return not self.place or any(
            fnmatchcase(finding.location, pattern) for pattern in (self.place, f"{self.place}: *", f"{self.place}.*")
        )

    def __str__(self) -> str:
        """Return the entry as it is written."""
        return f"{self.code} {self.place}".strip()


def parse_ignored(entries: Iterable[str]) -> tuple[Ignored, ...]:
    """Return entries; raise IgnoreError for an unknown code."""
    found = []
    for entry in entries:
        code, _, place = entry.strip().partition(" ")
        if code not in CODES:
            raise IgnoreError(f"`{entry}` does not begin with a code of a scan, such as SCAN501")
        found.append(Ignored(code, place.strip()))
    return tuple(found)


def project_ignored(text: str) -> tuple[Ignored, ...]:
    """Return the entries of a `pyproject.toml`; raise IgnoreError."""
    try:
        table = parse_toml(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return ()  # a check of the project reports it
    for key in ("tool", "mcpc", "scan"):
        table = table.get(key, {})
        if not isinstance(table, dict):
            raise IgnoreError("`[tool.mcpc.scan]` is not a table")
    unknown = sorted(table.keys() - SETTINGS)
    entries = table.get("ignore", [])
    if unknown:
        raise IgnoreError(f"`[tool.mcpc.scan]` has no setting `{unknown[0]}`; expected `ignore`")
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise IgnoreError('`ignore` of `[tool.mcpc.scan]` is not a list of texts such as "SCAN605 tool login"')
    return parse_ignored(entries)


def without_ignored(
    findings: Sequence[Finding], ignored: Sequence[Ignored]
) -> tuple[tuple[Finding, ...], tuple[Ignored, ...]]:
    """Return the findings that are not ignored, and the entries that match nothing."""
    left = tuple(finding for finding in findings if not any(entry.matches(finding) for entry in ignored))
    unused = tuple(entry for entry in ignored if not any(entry.matches(finding) for finding in findings))
    return left, unused
