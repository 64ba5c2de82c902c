"""Packages of a build from the project's lock: only its files, each checked by its digests; or why it is not used.

    requirements ─▶ locked files ─uv, without dependencies─▶ installed ─find_closure─▶ what is missing, until nothing is

The closure is found by the metadata of what is installed, so that a lock of any tool is proven to satisfy what the
project requires, and what only others need (groups, frameworks that are replaced) is left out.  What the project itself
contains, and what it takes from an address, is not a matter of the lock.  A locked source distribution is built, which
runs its code, if the project or its user allows that.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urldefrag, urlsplit

from packaging.requirements import Requirement

from mcpc.diagnostics import diagnose, has_errors
from mcpc.model.ir import LockRecord, ResolvedPackage
from mcpc.packages.cached_packages import FILES, fill_folder, load_folder
from mcpc.packages.choosing import install
from mcpc.packages.declared import COMMIT
from mcpc.packages.downloads import all_origins, fetch, file_on_disk
from mcpc.packages.installed_files import UnfitPackageError, copy_packages, installed_packages, packages_in
from mcpc.packages.lock_files import (
    LockedFile,
    LockError,
    LockFile,
    changed_requirement,
    lock_problem,
    lock_source,
    missing_lock,
    read_lock,
    unreadable_lock,
)
from mcpc.packages.model import StagedPackages
from mcpc.packages.pep508 import find_closure, normalised_name
from mcpc.packages.platforms import HERE_AND_NOW, Target, marker_values
from mcpc.packages.required_python import required_python
from mcpc.packages.sdists import BuildError, BuiltWheel, build_wheel, check_fits, unpack
from mcpc.packages.staged_targets import NOTHING, StagedTargets, stage_targets
from mcpc.packages.staging import (
    PackageRequest,
    importable_names,
    installation_failure,
    local_wheels,
    reinstall,
    shared_files,
    stage_for_build,
    stage_packages,
    write_wheel,
)
from mcpc.packages.targets import PlatformTargets
from mcpc.packages.toml_tables import written_dependencies
from mcpc.packages.uv import HashMismatchError, InstallError, NoWheelError, UvRequest
from mcpc.sandbox.cache_dir import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.model import Distribution
    from mcpc.packages.pep508 import Closure, Installed
    from mcpc.reading import SourceTree


WHEEL = ".whl"


@dataclass(frozen=True, slots=True)
class LockInstallation:
    """The packages that were installed from a lock, and their files; without a `record` it is not used."""

    installation: StagedTargets = NOTHING
    problems: Diagnostics = ()
    record: LockRecord | None = None
    resolved: tuple[ResolvedPackage, ...] = ()


def packages_from_lock(
    wanted: Sequence[RequestedPackage], groups: Sequence[PlatformTargets], tree: SourceTree
) -> LockInstallation:
    """Return the packages of a project's lock for some targets."""
    source = lock_source(tree)
    if source is None:
        return LockInstallation(problems=(missing_lock(tree),) if tree.options.locked else ())
    try:
        lock = read_lock(source, tree.options.extras, tree.options.groups)
    except LockError as problem:
        return LockInstallation(problems=(unreadable_lock(source.path, str(problem)),))
    try:
        check_pythons(lock, tree)
        check_requirements(lock, tree)
        installation = stage_targets(groups, wanted, lambda asked, target: stage_locked(asked, target, lock, tree.root))
    except LockError as problem:
        return LockInstallation(problems=lock_problem(problem, lock, wanted, locked=tree.options.locked))
    if not installation.installed:
        return LockInstallation(problems=installation.problems)
    resolved = {item for staged, asked in installation.installed for item in resolved_packages(staged, asked, lock)}
    ordered = tuple(sorted(resolved, key=lambda item: (item.name, item.version, item.file)))
    unhashed = tuple(
        without_digest(item, lock, wanted, locked=tree.options.locked) for item in ordered if not item.sha256
    )
    if has_errors(unhashed):
        return LockInstallation(problems=unhashed)
    notes = tuple(built_of_sources(item, lock) for item in ordered if not item.file.endswith(WHEEL))
    # A file without a digest was not verified, so nothing is recorded of it.
    known = tuple(item for item in ordered if item.sha256)
    return LockInstallation(installation, (*unhashed, *notes), LockRecord(lock.path, lock.digest), known)


def without_digest(
    package: ResolvedPackage, lock: LockFile, wanted: Sequence[RequestedPackage], *, locked: bool
) -> Diagnostic:
    """Return that nothing vouches for a file, so that its address alone decides what is bundled."""
    message = f"`{lock.path}` has no SHA-256 of `{package.file}`, so that it was not verified"
    (problem,) = lock_problem(LockError("unhashed", message, package.name), lock, wanted, locked=locked)
    return replace(problem, span=lock.place_of(package.name))


def built_of_sources(package: ResolvedPackage, lock: LockFile) -> Diagnostic:
    """Return the note that a package's code was run to build its wheel."""
    message = f"`{package.name} {package.version}` is built from `{package.file}`, which runs its code, confined"
    return diagnose("MCP425", lock.place_of(package.name), message, "", "a version that has a wheel needs no build")


def stage_project_packages(
    wanted: Sequence[RequestedPackage], tree: SourceTree
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return packages for this machine (see `mcpc.packages.stage_project_packages`).

    A warning about a lock that does not fit is reported where the packages are bundled.
    """
    locked = packages_from_lock(wanted, (PlatformTargets(HERE_AND_NOW),), tree)
    if locked.installation.installed:
        return locked.installation.folders[0], ()
    return (None, locked.problems) if has_errors(locked.problems) else stage_packages(wanted, "", "")


def check_pythons(lock: LockFile, tree: SourceTree) -> None:
    """Raise LockError if the project allows a Python that the lock excludes."""
    known = lock.pylock.requires_python
    written = required_python(tree)
    # As its last patch release: a lock for `>=3.11.4` is for Python 3.11, too.
    excluded = [minor for minor in written.minors if not known.contains(f"{minor}.999")] if known and written else []
    if written and excluded:
        message = f"the project allows Python {', '.join(excluded)}, and `{lock.path}` is for Python {known}"
        raise LockError("stale", message)


def check_requirements(lock: LockFile, tree: SourceTree) -> None:
    """Raise LockError if the project requires another version than when the lock was written."""
    changed = changed_requirement(lock.requirements, written_dependencies(tree)) if lock.requirements else ""
    if changed:
        name = normalised_name(Requirement(changed).name)
        before = lock.requirements[name] if lock.requirements else ""
        message = f"`{lock.path}` was written for `{name}{before}`, and the project requires `{changed}` now"
        raise LockError("stale", message, name)


def resolved_packages(
    staged: StagedPackages, wanted: Sequence[RequestedPackage], lock: LockFile
) -> Iterator[ResolvedPackage]:
    """Yield the files of the lock that were installed on one target, with what each package needs there."""
    target = Target(staged.platform, staged.python)
    there = packages_in(staged.root)
    closure = find_closure((item.text for item in wanted), there.get, marker_values(target))
    for name in sorted(closure.found):
        file = lock.file_for(name, target)
        if file is not None:
            needs = tuple(sorted(closure.needs.get(name, set()) - {name}))
            yield ResolvedPackage(name, there[name].version, file.file, file.sha256, needs)


SMALL_SOURCES = 1 << 20
"""Bytes of a source distribution that is built without asking, if its lock has its digest."""
NATIVE_SOURCES = re.compile(r"\.(?:c|cc|cpp|cu|cxx|f|f90|for|go|m|mm|pyx|rs|s|so|dll|dylib|pyd|a|o)$", re.IGNORECASE)
PACKAGES, WHEELS = "packages", "wheels"
ADDRESS_DIGEST = re.compile(r"sha256=([0-9a-fA-F]{64})")


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
class LockedPackages:
    """What a lock gives for requirements on one target: files by package, what was installed, and how each is named."""

    files: Mapping[str, LockedFile]
    closure: Closure[Installed] = field(repr=False)
    lines: Mapping[str, str]


def stage_locked(
    wanted: Sequence[RequestedPackage], target: Target, lock: LockFile, root: str
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return the packages installed from a lock; raise LockError if the lock cannot be used.

    `root`: the folder of the project.
    """
    place = cache_folder() / "packages" / _key(wanted, target, lock)
    distributions = load_folder(place)
    if distributions is None:
        try:
            distributions = fill_folder(place, lambda made: _install(made, PackageRequest(wanted, target), lock, root))
        except (InstallError, BuildError, UnfitPackageError, OSError) as problem:
            return None, (installation_failure(problem, wanted, target),)
    names = importable_names(distributions)
    staged = StagedPackages(place / FILES, distributions, names, target.platform, target.python)
    return staged, shared_files(distributions)


def _key(wanted: Sequence[RequestedPackage], target: Target, lock: LockFile) -> str:
    """Return the digest of all inputs of an installation from a lock."""
    inputs = {
        "lock": (lock.digest, lock.extras, lock.groups),
        "wanted": [(item.text, item.hashes, item.from_source, repr(item.repository)) for item in wanted],
        "local": {item.name: item.local.digest() for item in wanted if item.local is not None},
        # Without a platform the target is this machine, and wheels are built with this Python.
        "target": (target.platform, target.python, sys.platform, sys.version),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _install(made: Path, request: PackageRequest, lock: LockFile, root: str) -> tuple[Distribution, ...]:
    """Install the locked packages, and copy their files."""
    folder = made / "installed"
    wheels = local_wheels(request, folder / "wheels")
    found = install_locked(request, lock, root, wheels, folder)
    again = UvRequest((), target=request.goal, origins=all_origins(request.wanted))
    place = folder / PACKAGES
    distributions = copy_packages(
        found.closure, made / FILES, lambda name, fresh: reinstall(found.lines[name], again, place, fresh)
    )
    shutil.rmtree(folder)
    return distributions


def install_locked(
    request: PackageRequest, lock: FileSelection, root: str, wheels: Mapping[str, Path], folder: Path
) -> LockedPackages:
    """Install what a lock gives for requirements on a target; raise LockError if it does not satisfy them.

    `wheels`: those of what the project contains, which the lock does not have to name.
    """
    lock.check_target(request.goal)
    origins = all_origins(request.wanted)
    files = {item.name: file for item in request.wanted if (file := _file_of_address(item)) is not None}
    lines: dict[str, str] = {}
    there: dict[str, Installed] = {}
    new = {name: f"{name} @ {path.as_uri()}" for name, path in wheels.items()}
    # Each round installs what the metadata of the round before turned out to need.
    while True:
        if new:
            _install_lines(new, files, UvRequest((), target=request.goal, origins=origins), folder / PACKAGES)
            lines |= new
            there = installed_packages(folder / PACKAGES)
        closure = find_closure((item.text for item in request.wanted), there.get, marker_values(request.goal))
        absent = {normalised_name(Requirement(text).name): (by, text) for by, text in closure.missing}
        # What is still missing then is there, at a version that does not fit.
        if not absent.keys() - there.keys():
            break
        files.update(_looked_up(absent, files, lock, request.goal))
        added = [file for name, file in files.items() if name not in there]
        _check_hashes(added, request.wanted)
        new = {file.package: _line(file, request, lock.path, (root, folder)) for file in added}
    if closure.missing:
        by, text = closure.missing[0]
        name = normalised_name(Requirement(text).name)
        message = f"{_needer(by)} needs `{text}`, and `{lock.path}` has {there[name].version}"
        raise LockError("stale", message, by or name)
    return LockedPackages({name: files[name] for name in closure.found if name in files}, closure, lines)


def _install_lines(lines: Mapping[str, str], files: Mapping[str, LockedFile], request: UvRequest, folder: Path) -> None:
    """Install files by their addresses; where these cannot be reached, by name and digest from the registry."""
    try:
        install(replace(request, lines=[*lines.values()]), folder, "--no-deps")
    except HashMismatchError as problem:
        raise _mismatch(problem, files) from None
    except InstallError as problem:
        registered = [_by_name(files[name]) if name in files else line for name, line in lines.items()]
        try:
            install(replace(request, lines=registered), folder, "--no-deps")
        except HashMismatchError as second:
            raise _mismatch(second, files) from None
        except InstallError:
            locked = [name for name in lines if name in files]
            named = [name for name in locked if files[name].file in problem.said] or locked or [*lines]
            names = ", ".join(f"`{files[name].file}`" for name in named if name in files)
            where = "not in the cache or a folder of `--find-links`" if request.origins.offline else str(problem)
            raise LockError("absent", f"{names} cannot be installed: {where}", named[0]) from None


def _mismatch(problem: HashMismatchError, files: Mapping[str, LockedFile]) -> LockError:
    name = normalised_name(problem.package)
    file = files[name].file if name in files else name
    message = f"`{file}` has {problem.computed}, and the lock says {problem.expected.removeprefix('SHA-256 ')}"
    return LockError("mismatch", message, name)


def _line(file: LockedFile, request: PackageRequest, lock: str, places: tuple[str, Path]) -> str:
    """Return the requirement on a locked file: its path or its address, with its digest.

    uv accepts a file if one of its digests is right; so one with several is fetched, and all are checked.
    """
    root, folder = places
    origins = all_origins(request.wanted)
    if not file.is_wheel or file.others:
        data = fetch(file, root, origins)
        wheel = BuiltWheel(file.file, data) if file.is_wheel else _built(file, data, request, lock)
        return f"{file.package} @ {write_wheel(wheel, folder / WHEELS).as_uri()}"
    place = file_on_disk(file, root, origins)
    if place is None and not file.address:
        return _by_name(file)
    digest = f"#sha256={file.sha256}" if file.sha256 else ""
    return f"{file.package} @ {place.resolve().as_uri() if place else urldefrag(file.address).url}{digest}"


def _by_name(file: LockedFile) -> str:
    version = f"=={file.version}" if file.version else ""
    return f"{file.package}{version}" + (f" --hash=sha256:{file.sha256}" if file.sha256 else "")


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


def _built(file: LockedFile, data: bytes, request: PackageRequest, lock: str) -> BuiltWheel:
    """Return the wheel that is built of locked sources: if that is allowed, or if they are few and pure Python."""
    text = f"{file.package}=={file.version}" if file.version else file.package
    is_allowed = any(item.from_source for item in request.wanted)
    sources = unpack(file.package, file.file, data) if is_allowed or _is_small(file, data) else {}
    if not is_allowed and (not sources or any(NATIVE_SOURCES.search(path) for path in sources)):
        raise NoWheelError(text, "", lock)
    built = build_wheel(file.package, sources, partial(stage_for_build, origins=all_origins(request.wanted)))
    check_fits(file.package, built, request.goal)
    if not is_allowed and not built.file.endswith("-none-any.whl"):
        raise NoWheelError(text, "", lock)
    return built


def _is_small(file: LockedFile, data: bytes) -> bool:
    return bool(file.sha256) and len(data) <= SMALL_SOURCES
