"""Versions and files for each target, by uv or by pip: one table, and what both have in common.

Versions of an existing lock are taken if they fit, and one version for all targets if there is one.  Where uv fails,
pip is asked: it knows the tags of a target, and its message says what is wrong.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.version import Version

from mcpc.dependencies.locked_files import fetch_files
from mcpc.locking.failures import ResolutionError
from mcpc.locking.pip_resolver import resolve_by_pip
from mcpc.locking.sources import resolve_with_sources
from mcpc.locking.uv_resolver import resolve_by_uv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcpc.dependencies.lock_files import LockedFile
    from mcpc.dependencies.locked_files import FileSources
    from mcpc.dependencies.platforms import Target
    from mcpc.locking.request import LockRequest

    TargetFiles = dict[Target, dict[str, LockedFile]]

RESOLVERS = {"uv": resolve_by_uv, "pip": resolve_by_pip}


@dataclass(frozen=True, slots=True)
class ResolvedFiles:
    """The files that a resolver has found, by target and package: selected as those of a lock (`FileSelection`)."""

    files: Mapping[Target, Mapping[str, LockedFile]]
    path: str
    resolver: str

    def check_target(self, target: Target) -> None:
        """Accept every target: each was resolved."""

    def file_for(self, name: str, target: Target) -> LockedFile | None:
        """Return the file of a package for a target; None if there is none."""
        return self.files[target].get(name)


def resolve(
    request: LockRequest, resolvers: Sequence[str], sources: FileSources, local: Mapping[str, Path]
) -> ResolvedFiles:
    """Return files for all targets by the first resolver that finds some; raise ResolutionError of the last one."""
    failure = ResolutionError("there is no resolver")
    for name in resolvers:
        for preferred in dict.fromkeys((_fitting(request), ())):
            attempt = replace(request, preferred=dict(preferred))
            try:
                found = _with_one_version(attempt, name, local)
            except ResolutionError as problem:
                failure = problem
            else:
                return ResolvedFiles(_with_digests(found, sources), "what was resolved", name)
    raise failure


def _fitting(request: LockRequest) -> tuple[tuple[str, str], ...]:
    """Return the preferred versions that no requirement of the project excludes."""
    asked = [Requirement(item.text) for item in request.wanted]
    specifiers = {item.name: parsed.specifier for item, parsed in zip(request.wanted, asked, strict=True)}
    return tuple(
        (name, version)
        for name, version in sorted(request.preferred.items())
        if name not in specifiers or specifiers[name].contains(version, prereleases=True)
    )


def _with_one_version(request: LockRequest, resolver: str, local: Mapping[str, Path]) -> TargetFiles:
    """Return the files of all targets, with one version of each package if that is possible."""

    def chosen(asked: LockRequest) -> TargetFiles:
        return RESOLVERS[resolver](asked, local)

    found = resolve_with_sources(request, chosen)
    versions: dict[str, set[Version]] = {}
    for files in found.values():
        for name, file in files.items():
            if file.version:
                versions.setdefault(name, set()).add(Version(file.version))
    several = {name: str(min(there)) for name, there in versions.items() if len(there) > 1}
    if not several:
        return found
    try:
        return resolve_with_sources(replace(request, preferred={**request.preferred, **several}), chosen)
    except ResolutionError:
        return found


def _with_digests(found: TargetFiles, sources: FileSources) -> TargetFiles:
    """Return the files, those without a digest with the one of their bytes."""
    return {
        target: {name: _with_digest(file, target, sources) for name, file in files.items()}
        for target, files in found.items()
    }


def _with_digest(file: LockedFile, target: Target, sources: FileSources) -> LockedFile:
    if file.sha256:
        return file
    data = fetch_files((file,), target, sources)[file.file]
    return replace(file, sha256=hashlib.sha256(data).hexdigest())
