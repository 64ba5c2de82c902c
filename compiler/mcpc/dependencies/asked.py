"""What a project asks for, wherever it says so: the places together, and none against another.

A package may be named in several places, as in `pyproject.toml` with a range and in `requirements.txt` with a version:
what holds is all of it together.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from packaging import requirements as pep508

from mcpc import DISTRIBUTION
from mcpc.dependencies.lines import read_lines
from mcpc.dependencies.locked import locked_versions, with_locked
from mcpc.dependencies.spelling import pinned_version
from mcpc.dependencies.tables import inline_metadata, project_metadata
from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.dependencies.model import Requirement
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources import Source, SourceTree


STRANGER = "mcpc"
"""On PyPI this is another project."""
OURS = frozenset((STRANGER, DISTRIBUTION))
"""What a built file brings of itself: `from mcpc import tool` needs no package, and none of that name is looked for."""


def asked(tree: SourceTree, scripts: Sequence[Source]) -> tuple[tuple[Requirement, ...], Diagnostics]:
    """Return what all places of a project ask for, in the order of the names, and what is wrong with it."""
    read = [read_lines(tree), project_metadata(tree), *map(inline_metadata, scripts)]
    found = [requirement for requirements, _ in read for requirement in requirements if requirement.name not in OURS]
    problems = [problem for _, problems in read for problem in problems]
    merged: list[Requirement] = []
    for _, group in groupby(sorted(found, key=_key), key=_key):
        same = tuple(group)
        problems += _contradictions(same)
        merged.append(_together(same))
    problems += _strangers(requirement for requirements, _ in read for requirement in requirements)
    chosen, amiss = locked_versions(tree) if merged else ({}, ())
    problems += amiss
    merged = [*with_locked(merged, chosen)]
    problems += _unpinned(merged)
    return tuple(merged), tuple(problems)


def _key(requirement: Requirement) -> tuple[str, str]:
    """Return what makes two requirements speak of one package: its name, and when it is wanted."""
    return requirement.name, str(pep508.Requirement(requirement.text).marker or "")


def _contradictions(same: Sequence[Requirement]) -> Iterator[Diagnostic]:
    """Yield the requirements that refuse the very version that another one pins."""
    pins = {version: one for one in same if (version := pinned_version(one.text))}
    for version, pinning in pins.items():
        for one in same:
            if not pep508.Requirement(one.text).specifier.contains(version, prereleases=True):
                message = f"`{one.text}` contradicts `{pinning.text}`" + _elsewhere(one, pinning)
                yield diagnose("MCP403", one.span, message, "", "name one version everywhere")


def _elsewhere(one: Requirement, other: Requirement) -> str:
    if one.span is None or other.span is None or one.span.path == other.span.path:
        return ""
    return f" in `{other.span.path}`"


def _together(same: Sequence[Requirement]) -> Requirement:
    """Return one requirement that means all of them."""
    parts = [pep508.Requirement(one.text) for one in same]
    whole = parts[0]
    for part in parts[1:]:
        whole.specifier &= part.specifier
        whole.extras |= part.extras
    hashes = tuple(sorted({checksum for one in same for checksum in one.hashes}))
    pinned = next((one for one in same if pinned_version(one.text)), same[0])
    return replace(pinned, text=str(whole), hashes=hashes, extracted=any(one.extracted for one in same))


def _unpinned(requirements: Iterable[Requirement]) -> Iterator[Diagnostic]:
    for one in requirements:
        if not pinned_version(one.text):
            message = f"`{one.text}` does not say which version, so that two builds may differ"
            yield diagnose("MCP404", one.span, message, "", unpinned_hint(one.name))


def unpinned_hint(name: str, version: str = "…") -> str:
    """Return what to write for a requirement without a version; `version`: the one that was found."""
    return f"name one: `{name}=={version}`"


def _strangers(requirements: Iterable[Requirement]) -> Iterator[Diagnostic]:
    for one in requirements:
        if one.name == STRANGER:
            message = f"`{one.text}` is another project on PyPI; this one is `{DISTRIBUTION}`"
            yield diagnose("MCP415", one.span, message, "", f"remove it, or name `{DISTRIBUTION}`")
