"""Installation of packages from a lock: only its files, each checked by its SHA-256, and nothing that they do not need.

    requirements ─find_closure─▶ locked files ─fetch_files─▶ wheels ─pip, without registries─▶ StagedPackages

The closure is found by the metadata of the wheels themselves, so that a lock of any tool is proven to satisfy what the
project requires, and what only others need (groups, frameworks that are replaced) is left out.  What the project itself
contains, and what it takes from an address, is not a matter of the lock.  A locked source distribution is built, which
runs its code, if the project or its user allows that.
"""

from __future__ import annotations

import email
import email.policy
import hashlib
import io
import json
import posixpath
import re
import shutil
import sys
import zipfile
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urldefrag, urlsplit

from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

from mcpc.cache_dir import cache_folder
from mcpc.dependencies.declared import COMMIT
from mcpc.dependencies.installation_failures import installation_failure
from mcpc.dependencies.installed_files import UnfitPackageError, copy_package
from mcpc.dependencies.lock_files import LockedFile, LockError
from mcpc.dependencies.locked_files import fetch_files
from mcpc.dependencies.model import StagedPackages
from mcpc.dependencies.pep508 import find_closure, normalised_name
from mcpc.dependencies.pip_install import Installation, InstallError, NoWheelError, install_wheels
from mcpc.dependencies.platforms import marker_values
from mcpc.dependencies.sdists import BuildError, BuiltWheel, build_wheel, check_fits, unpack
from mcpc.dependencies.staging import (
    FILES,
    PackageRequest,
    fill_folder,
    importable_names,
    load_folder,
    local_wheels,
    stage_for_build,
    write_wheel,
)
from mcpc.ir.requirements import RequestedPackage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcpc.dependencies.lock_files import LockFile
    from mcpc.dependencies.locked_files import FileSources
    from mcpc.dependencies.model import Distribution
    from mcpc.dependencies.pep508 import Closure
    from mcpc.dependencies.platforms import Target
    from mcpc.diagnostics import Diagnostics

METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
ADDRESS_DIGEST = re.compile(r"sha256=([0-9a-fA-F]{64})")
NO_REGISTRY = ("--no-index", "--no-deps")


class FileSelection(Protocol):
    """What selects files for a target: a lock, or what a resolver has found; `path` is its name in messages."""

    @property
    def path(self) -> str:
        """The path of the lock in the project."""

    def check_target(self, target: Target) -> None:
        """Raise LockError if it is not for a target."""

    def file_for(self, name: str, target: Target) -> LockedFile | None:
        """Return the file of a package for a target; None if there is none."""


@dataclass(frozen=True, slots=True)
class WheelMetadata:
    """The metadata of a wheel that count: its version, and what it requires."""

    version: str
    requires: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LockedPackages:
    """What a lock gives for requirements on one target: files and wheels by package, and the closure."""

    files: Mapping[str, LockedFile]
    wheels: Mapping[str, BuiltWheel] = field(repr=False)
    closure: Closure[WheelMetadata] = field(repr=False)


def stage_locked(
    wanted: Sequence[RequestedPackage], target: Target, lock: LockFile, sources: FileSources
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return the packages installed from a lock; raise LockError if the lock cannot be used."""
    folder = cache_folder() / "packages" / _key(wanted, target, lock)
    distributions = load_folder(folder)
    if distributions is None:
        try:
            distributions = fill_folder(folder, lambda made: _install(made, wanted, target, (lock, sources)))
        except (InstallError, BuildError, UnfitPackageError, OSError) as problem:
            return None, (installation_failure(problem, wanted, target),)
    root = folder / FILES
    return StagedPackages(root, distributions, importable_names(distributions), target.platform, target.python), ()


def _key(wanted: Sequence[RequestedPackage], target: Target, lock: LockFile) -> str:
    """Return the digest of all inputs of an installation from a lock."""
    inputs = {
        "lock": (lock.digest, lock.extras, lock.groups),
        "wanted": [(item.text, item.hashes, item.from_source, repr(item.repository)) for item in wanted],
        "local": {item.name: item.local.digest() for item in wanted if item.local is not None},
        "target": (target.platform, target.python, sys.platform, sys.version),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _install(
    made: Path, wanted: Sequence[RequestedPackage], target: Target, origin: tuple[LockFile, FileSources]
) -> tuple[Distribution, ...]:
    """Install the locked packages with pip, which gets the wheels only, and copy their files."""
    folder = made / "installed/packages"
    request = PackageRequest(wanted, target, (), (), origin[1].indexes)
    wheels = local_wheels(request, folder.parent / "wheels")
    found = locked_packages(request, origin, wheels)
    for name, wheel in found.wheels.items():
        if name not in wheels:
            wheels[name] = write_wheel(wheel, folder.parent / "wheels")
    folder.mkdir(parents=True)
    rows = [RequestedPackage(name, f"{name} @ {wheels[name].as_uri()}") for name in sorted(found.closure.found)]
    install_wheels(Installation(rows, target, (), {}, "", NO_REGISTRY), folder)
    there = {normalised_name(item.metadata["Name"]): item for item in metadata.distributions(path=[str(folder)])}
    distributions = tuple(copy_package(there[name], made / FILES) for name in sorted(there))
    shutil.rmtree(folder.parent)
    return distributions


def locked_packages(
    request: PackageRequest, origin: tuple[FileSelection, FileSources], local: Mapping[str, Path]
) -> LockedPackages:
    """Return what a lock gives for requirements on a target; raise LockError if it does not satisfy them.

    `local`: wheels of what the project contains, which the lock does not have to name.
    """
    lock, sources = origin
    lock.check_target(request.goal)
    files = {item.name: file for item in request.wanted if (file := _file_of_address(item)) is not None}
    wheels = {name: BuiltWheel(path.name, path.read_bytes()) for name, path in local.items()}
    known = {name: wheel_metadata(wheel) for name, wheel in wheels.items()}
    texts = [item.text for item in request.wanted]
    while True:
        closure = find_closure(texts, known.get, marker_values(request.goal))
        absent = {normalised_name(Requirement(text).name): (by, text) for by, text in closure.missing}
        if not absent.keys() - known.keys():
            break
        files.update(_looked_up(absent, files, lock, request.goal))
        new = [file for name, file in files.items() if name not in known]
        _check_hashes(new, request.wanted)
        data = fetch_files(new, request.goal, sources)
        for file in new:
            wheels[file.package] = _as_wheel(file, data[file.file], request, lock.path)
            known[file.package] = wheel_metadata(wheels[file.package])
    if closure.missing:
        by, text = closure.missing[0]
        name = normalised_name(Requirement(text).name)
        message = f"{_needer(by)} needs `{text}`, and `{lock.path}` has {known[name].version}"
        raise LockError("stale", message, by or name)
    return LockedPackages({name: files[name] for name in closure.found if name in files}, wheels, closure)


def _looked_up(
    absent: Mapping[str, tuple[str, str]], there: Mapping[str, LockedFile], lock: FileSelection, target: Target
) -> dict[str, LockedFile]:
    """Return the locked files of absent packages, and the wheels of what the lock says that these need.

    That may be needed elsewhere only: it is fetched with the others to save a round, and never refused or built.
    """
    found: dict[str, LockedFile] = {}
    waiting = [name for name in absent if name not in there]
    while waiting:
        name = waiting.pop()
        file = None if name in found or name in there else _file_for(name, target, lock, is_needed=name in absent)
        if file is not None and (name in absent or file.is_wheel):
            found[name] = file
            waiting += file.needs
        elif name in absent and name not in found:
            by, text = absent[name]
            message = f"{_needer(by)} needs `{text}`, which `{lock.path}` does not have for {target.name}"
            raise LockError("stale", message, by or name)
    return found


def _file_for(name: str, target: Target, lock: FileSelection, *, is_needed: bool) -> LockedFile | None:
    """Return the locked file of a package; None if there is none, or none that fits and nothing is known to need it."""
    try:
        return lock.file_for(name, target)
    except LockError:
        if is_needed:
            raise
        return None


def _check_hashes(files: Sequence[LockedFile], wanted: Sequence[RequestedPackage]) -> None:
    """Raise LockError for a file that is not among the digests that a requirement names."""
    allowed = {item.name: item for item in wanted if item.hashes}
    for file in files:
        item = allowed.get(file.package)
        if item is not None and file.sha256 and f"sha256:{file.sha256}" not in item.hashes:
            message = f"`{file.file}` is locked, and is not among the digests of `{item.text}`"
            raise LockError("stale", message, file.package)


def _needer(by: str) -> str:
    return f"`{by}`" if by else "the project"


def _file_of_address(item: RequestedPackage) -> LockedFile | None:
    """Return the file that a requirement names by its address; raise LockError if it has no digest."""
    if item.repository is not None and not COMMIT.fullmatch(item.repository.revision):
        raise LockError("unhashed", f"`{item.name}` comes from a repository without a commit", item.name)
    address, fragment = urldefrag(Requirement(item.text).url or "")
    if not address or item.local is not None or item.repository is not None:
        return None
    digest = ADDRESS_DIGEST.search(fragment)
    if digest is None:
        raise LockError("unhashed", f"`{item.name}` comes from an address without a digest", item.name)
    file = posixpath.basename(unquote(urlsplit(address).path))
    return LockedFile(item.name, "", file, digest[1].lower(), None, address)


def _as_wheel(file: LockedFile, data: bytes, request: PackageRequest, lock: str) -> BuiltWheel:
    """Return the wheel of a locked file: itself, or the one that is built of locked sources, if that is allowed."""
    if file.is_wheel:
        return BuiltWheel(file.file, data)
    text = f"{file.package}=={file.version}" if file.version else file.package
    if not any(item.from_source for item in request.wanted):
        raise NoWheelError(text, "", lock)
    sources = unpack(file.package, file.file, data)
    built = build_wheel(file.package, sources, partial(stage_for_build, indexes=request.indexes))
    check_fits(file.package, built, request.goal)
    return built


def wheel_metadata(wheel: BuiltWheel) -> WheelMetadata:
    """Return the version and the requirements of a wheel; raise BuildError if it is not one."""
    name, version, *_ = parse_wheel_filename(wheel.file)
    try:
        with zipfile.ZipFile(io.BytesIO(wheel.data)) as archive:
            path = next(path for path in archive.namelist() if METADATA.fullmatch(path))
            message = email.message_from_bytes(archive.read(path), policy=email.policy.compat32)
    except (zipfile.BadZipFile, StopIteration, KeyError) as problem:
        raise BuildError(name, f"`{wheel.file}` is not a wheel: {problem}") from None
    return WheelMetadata(str(message["Version"] or version), tuple(map(str, message.get_all("Requires-Dist", []))))
