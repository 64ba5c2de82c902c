"""The table of a lock, made of files for each target: packages that are needed, edges between them, and markers.

A package that only some targets need has a marker; the lock itself names its environments, so that an installer refuses
a machine that it is not for.  What the project contains, or takes from a repository, is named without a version.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from mcpc.dependencies.lock_files import CREATOR, SHA256, LockedFile
from mcpc.dependencies.lock_staging import locked_packages
from mcpc.dependencies.locked_files import fetch_files
from mcpc.dependencies.pip_install import NoWheelError
from mcpc.dependencies.platforms import marker_values
from mcpc.dependencies.staging import PackageRequest
from mcpc.locking.failures import OnlySourcesError
from mcpc.locking.request import target_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.dependencies.lock_staging import FileSelection, LockedPackages
    from mcpc.dependencies.locked_files import FileSources
    from mcpc.dependencies.platforms import Target
    from mcpc.ir.requirements import RequestedPackage
    from mcpc.locking.request import LockRequest

MARKERS = ("sys_platform", "platform_machine", "python_version")
"""The markers by which targets differ."""


@dataclass(slots=True)
class LockedPackage:
    """One version of a package: the targets that need it, its files there, and the packages that it needs."""

    name: str
    version: str
    targets: list[Target] = field(default_factory=list)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    needs: set[tuple[str, str]] = field(default_factory=set)
    origin: dict[str, Any] = field(default_factory=dict)


def assemble_lock(
    request: LockRequest, selection: FileSelection, sources: FileSources, local: Mapping[str, Path]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the table of a lock, and its files by name; raise LockError if the selection does not satisfy the request.

    `local`: wheels of what the project contains.
    """
    packages: dict[tuple[str, str], LockedPackage] = {}
    files: dict[str, bytes] = {}
    places = {item.name: origin for item in request.wanted if (origin := _origin(item))}
    for target in request.targets:
        found = _locked(PackageRequest(request.wanted, target, (), (), request.indexes), (selection, sources), local)
        versions = {name: item.version for name, item in found.closure.found.items()}
        for name, version in versions.items():
            package = packages.setdefault((name, version), LockedPackage(name, version))
            package.targets.append(target)
            package.needs |= {(need, versions[need]) for need in found.closure.needs.get(name, ()) if need != name}
            package.origin = places.get(name, {})
            file = found.files.get(name) or _local_file(name, found, request)
            if file is not None and not package.origin:
                data = found.wheels[name].data if file.is_wheel else fetch_files((file,), target, sources)[file.file]
                package.files[file.file] = _file_row(file, data, sources)
                files[file.file] = data
    ordered = [packages[key] for key in sorted(packages)]
    names = [package.name for package in ordered]
    several = {name for name in names if names.count(name) > 1}
    return {
        "lock-version": "1.0",
        "environments": sorted({_environment(target) for target in request.targets}),
        **({"requires-python": request.requires_python} if request.requires_python else {}),
        "created-by": CREATOR,
        "packages": [_row(package, request.targets, several) for package in ordered],
        "tool": {CREATOR: {"targets": [target_name(target) for target in request.targets]}},
    }, files


def _locked(
    request: PackageRequest, origin: tuple[FileSelection, FileSources], local: Mapping[str, Path]
) -> LockedPackages:
    try:
        return locked_packages(request, origin, local)
    except NoWheelError as absent:
        raise OnlySourcesError(absent, request.goal) from None


def _local_file(name: str, found: LockedPackages, request: LockRequest) -> LockedFile | None:
    """Return the file of a wheel that the project contains; None for anything else."""
    path = next((item.local.path for item in request.wanted if item.name == name and item.local is not None), "")
    if not path.endswith(".whl"):
        return None
    wheel = found.wheels[name]
    return LockedFile(name, "", wheel.file, hashlib.sha256(wheel.data).hexdigest(), path=path)


def _row(package: LockedPackage, targets: Sequence[Target], several: set[str]) -> dict[str, Any]:
    """Return the row of a package; `several`: the names that have several versions."""
    marker = target_marker(package.targets, targets)
    needs = [
        {"name": name, "version": version} if name in several else {"name": name}
        for name, version in sorted(package.needs)
    ]
    wheels = [package.files[file] for file in sorted(package.files) if file.endswith(".whl")]
    sdist = next((package.files[file] for file in sorted(package.files) if not file.endswith(".whl")), None)
    return {
        "name": package.name,
        **({} if package.origin else {"version": package.version}),
        **({"marker": marker} if marker else {}),
        **({"dependencies": needs} if needs else {}),
        **package.origin,
        **({"sdist": sdist} if sdist else {}),
        **({"wheels": wheels} if wheels else {}),
    }


def _origin(item: RequestedPackage) -> dict[str, Any]:
    """Return where a package is that is not from a registry, in the form of PEP 751; nothing for others."""
    if item.local is not None and not item.local.is_wheel:
        return {"directory": {"path": item.local.path or "."}}
    if item.repository is not None:
        below = {"subdirectory": item.repository.below} if item.repository.below else {}
        place = {"type": "git", "url": item.repository.address, "commit-id": item.repository.revision}
        return {"vcs": {**place, **below}}
    return {}


def _file_row(file: LockedFile, data: bytes, sources: FileSources) -> dict[str, Any]:
    """Return the row of a file: its address without a password, or its path if it is on this machine."""
    return {
        "name": file.file,
        **file_place(file, sources.root),
        "size": len(data),
        "hashes": {SHA256: file.sha256},
    }


def file_place(file: LockedFile, root: str) -> dict[str, str]:
    """Return where a file is: `path` is relative to the lock, with `/`."""
    parts = urlsplit(file.address)
    if parts.scheme and parts.scheme != "file":
        return {"url": urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))}
    path = Path(root, unquote(parts.path) if parts.scheme else file.path)
    return {"path": posixpath.normpath(Path(os.path.relpath(path, root or None)).as_posix())}


def _environment(target: Target) -> str:
    values = marker_values(target)
    return " and ".join(f"{name} == '{values[name]}'" for name in MARKERS)


def target_marker(some: Iterable[Target], every: Iterable[Target]) -> str:
    """Return a marker that is true on some targets and false on the others; an empty text if these are all."""
    wanted, others = {_environment(item) for item in some}, {_environment(item) for item in every}
    if wanted == others:
        return ""
    values = {_environment(item): marker_values(item) for item in every}
    for name in MARKERS:
        here = {values[item][name] for item in wanted}
        if {item for item in others if values[item][name] in here} == wanted:
            return " or ".join(f"{name} == '{value}'" for value in sorted(here))
    return " or ".join(f"({item})" for item in sorted(wanted))
