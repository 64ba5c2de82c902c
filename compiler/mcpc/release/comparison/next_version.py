"""The next version number, by Semantic Versioning: what breaks needs a major version, or a minor one below 1.0."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from mcpc.release.comparison.rules import Impact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.release.comparison.model import Change

NUMBER = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:[-+.].*)?")
LEVELS = ("none", "patch", "minor", "major")


def level_of(changes: Iterable[Change]) -> str:
    """Return the part of the version number that changes call for; what is undecided is taken as breaking."""
    verdicts = {each.verdict for each in changes if each.rule != "version-changed"}
    if verdicts & {Impact.BREAKING, Impact.UNDECIDED}:
        return "major"
    if Impact.ADDITIVE in verdicts:
        return "minor"
    return "patch" if verdicts else "none"


def next_version(old: str, level: str) -> str | None:
    """Return the lowest version that changes of this level may have; None if the old one is not of the form 1.2.3."""
    found = NUMBER.fullmatch(old)
    if found is None:
        return None
    major, minor, patch = map(int, found.groups())
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
