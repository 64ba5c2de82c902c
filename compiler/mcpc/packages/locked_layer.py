"""Packages of a build from the project's lock, for each of its targets; or the reason why the lock is not used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from mcpc.diagnostics import diagnose, has_errors
from mcpc.model.ir import LockRecord, ResolvedPackage
from mcpc.packages.lock_files import LockError, LockFile, lock_source, read_lock
from mcpc.packages.lock_problems import lock_problem, missing_lock, unreadable_lock
from mcpc.packages.lock_staging import stage_locked
from mcpc.packages.pep508 import find_closure, normalised_name
from mcpc.packages.platforms import HERE_AND_NOW, Target, marker_values
from mcpc.packages.required_python import required_python
from mcpc.packages.staging import stage_packages
from mcpc.packages.toml_tables import written_dependencies
from mcpc.packages.uv_lock import changed_requirement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.model import StagedPackages
    from mcpc.reading import SourceTree

WHEEL = ".whl"


@dataclass(frozen=True, slots=True)
class LockInstallation:
    """The packages that were installed from a lock, and their files; without a `record` it is not used."""

    staged: tuple[StagedPackages, ...] = ()
    problems: Diagnostics = ()
    record: LockRecord | None = None
    resolved: tuple[ResolvedPackage, ...] = ()


def packages_from_lock(
    wanted: Sequence[RequestedPackage], targets: Sequence[Target], tree: SourceTree
) -> LockInstallation:
    """Return the packages of a project's lock for some targets."""
    source = lock_source(tree)
    if source is None:
        return LockInstallation((), (missing_lock(tree),) if tree.locked else ())
    try:
        lock = read_lock(source, tree.extras, tree.groups)
    except LockError as problem:
        return LockInstallation((), (unreadable_lock(source.path, str(problem)),))
    found: list[StagedPackages] = []
    try:
        check_pythons(lock, tree)
        check_requirements(lock, tree)
        for target in targets:
            staged, problems = stage_locked(wanted, target, lock, tree.root)
            if staged is None:
                return LockInstallation((), problems)
            found.append(staged)
    except LockError as problem:
        return LockInstallation((), lock_problem(problem, lock, wanted, locked=tree.locked))
    resolved = {item for staged in found for item in resolved_packages(staged, wanted, lock)}
    ordered = tuple(sorted(resolved, key=lambda item: (item.name, item.version, item.file)))
    unhashed = tuple(without_digest(item, lock, wanted, locked=tree.locked) for item in ordered if not item.sha256)
    if has_errors(unhashed):
        return LockInstallation((), unhashed)
    notes = tuple(built_of_sources(item, lock) for item in ordered if not item.file.endswith(WHEEL))
    known = tuple(item for item in ordered if item.sha256)
    return LockInstallation(tuple(found), (*unhashed, *notes), LockRecord(lock.path, lock.digest), known)


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
    locked = packages_from_lock(wanted, (HERE_AND_NOW,), tree)
    if locked.staged:
        return locked.staged[0], ()
    return (None, locked.problems) if has_errors(locked.problems) else stage_packages(wanted, "", "")


def check_pythons(lock: LockFile, tree: SourceTree) -> None:
    """Raise LockError if the project allows a Python that the lock excludes."""
    known = lock.pylock.requires_python
    written = required_python(tree)
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
    there = {normalised_name(item.metadata["Name"]): item for item in metadata.distributions(path=[str(staged.root)])}
    closure = find_closure((item.text for item in wanted), there.get, marker_values(target))
    for name in sorted(closure.found):
        file = lock.file_for(name, target)
        if file is not None:
            needs = tuple(sorted(closure.needs.get(name, set()) - {name}))
            yield ResolvedPackage(name, there[name].version, file.file, file.sha256, needs)
