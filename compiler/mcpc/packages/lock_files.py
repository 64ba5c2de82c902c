"""Lock files of a project, read for one target: `pylock.toml` (PEP 751) and `uv.lock`, which is turned into that form.

A lock says which file of which package is installed where; whether that satisfies what the project requires is found
out by the metadata of the files (`lock_staging.py`).  `packaging.pylock` selects.
"""

from __future__ import annotations

import hashlib
import posixpath
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.pylock import (
    PackageArchive,
    PackageSdist,
    PackageWheel,
    Pylock,
    PylockSelectError,
    PylockValidationError,
    is_valid_pylock_path,
)

from mcpc.diagnostics import Span
from mcpc.packages.target_tags import target_environment, wheel_tags
from mcpc.packages.uv_lock import locked_requirements, pylock_of_uv
from mcpc.reading.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from packaging.specifiers import SpecifierSet

    from mcpc.packages.platforms import Target
    from mcpc.reading import Source, SourceTree

PYLOCK, UV_LOCK = "pylock.toml", "uv.lock"
READ_LOCKS = (PYLOCK, UV_LOCK)
"""The lock files that a build installs from, in the order in which they are looked for."""
SHA256 = "sha256"
CREATOR = "mcpc"


class LockError(Exception):
    """A lock cannot be used: `kind` is a row of `lock_problems.KINDS`, `package` the normalised name it is about."""

    def __init__(self, kind: str, message: str, package: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.package = package


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file that a lock names: a wheel, or a source distribution; `address` and `path` are where it is.

    `path` is relative to the project; `needs` are the packages that the lock says it needs, if it says so.
    `sha256` is empty if the lock has none; `others` are its other digests, by their algorithms.
    """

    package: str
    version: str
    file: str
    sha256: str
    size: int | None = None
    address: str = ""
    path: str = ""
    needs: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()

    @property
    def is_wheel(self) -> bool:
        """Tell whether it can be installed without running its code."""
        return self.file.endswith(".whl")


@dataclass(frozen=True, slots=True)
class LockFile:
    """A lock file: its source, its meaning, and what of it is chosen.

    `unnamed`: packages of which it names no file; `requirements`: those of the project when it was written, each with
    its versions, if it says.
    """

    source: Source
    pylock: Pylock
    unnamed: frozenset[str] = frozenset()
    requirements: Mapping[str, SpecifierSet] | None = None
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its path in the project."""
        return self.source.path

    @property
    def digest(self) -> str:
        """The SHA-256 of its bytes."""
        return hashlib.sha256(self.source.data).hexdigest()

    @property
    def is_ours(self) -> bool:
        """Tell whether `mcpc lock` wrote it."""
        return self.pylock.created_by == CREATOR

    def names(self) -> frozenset[str]:
        """Return the packages that it names for any target."""
        return frozenset(package.name for package in self.pylock.packages) | self.unnamed

    def place_of(self, name: str) -> Span:
        """Return where it names a package; its first line if it does not."""
        line = f'name = "{name}"'
        start = self.source.text.find(line) if name else -1
        end = start + len(line) if start >= 0 else len(self.source.text.partition("\n")[0])
        return Span(self.path, max(start, 0), end)

    def check_target(self, target: Target) -> None:
        """Raise LockError if the lock is not for a target."""
        try:
            tuple(self._select((), target))
        except PylockSelectError:
            raise LockError("target", f"`{self.path}` is not for {target.name}") from None

    def file_for(self, name: str, target: Target) -> LockedFile | None:
        """Return the file of a package for a target; None if the lock has no such package there."""
        rows = [package for package in self.pylock.packages if package.name == name]
        if not rows and name in self.unnamed:
            raise LockError("unnamed", f"`{self.path}` names no file of `{name}`", name)
        try:
            found = next(iter(self._select(rows, target)), None)
        except PylockSelectError:
            versions = " and ".join(sorted({str(package.version) for package in rows}))
            if self._is_ambiguous(rows, target):
                message = f"`{self.path}` has several versions of `{name}` for {target.name}: {versions}"
            else:
                message = f"`{self.path}` has no wheel of `{name} {versions}` for {target.name}"
            raise LockError("stale", message, name) from None
        if found is None or not isinstance(found[1], PackageWheel | PackageSdist | PackageArchive):
            return None
        needs = tuple(sorted({str(item["name"]) for item in found[0].dependencies or () if "name" in item}))
        return self._file(name, str(found[0].version or ""), found[1], needs)

    def _select(self, rows: Iterable[Any], target: Target) -> Iterator[tuple[Any, Any]]:
        """Select among some packages of the lock: what nothing needs may lack a wheel."""
        groups = {*(self.pylock.default_groups or ()), *self.groups}
        return replace(self.pylock, packages=[*rows]).select(
            environment=target_environment(target),
            tags=wheel_tags(target),
            extras=self.extras,
            dependency_groups=groups,
        )

    def _is_ambiguous(self, rows: Iterable[Any], target: Target) -> bool:
        values: dict[str, Any] = {
            **target_environment(target),
            "extras": frozenset(self.extras),
            "dependency_groups": frozenset(self.groups),
        }
        applying = [row for row in rows if row.marker is None or row.marker.evaluate(values, context="lock_file")]
        return len(applying) > 1

    def _file(
        self, name: str, version: str, found: PackageWheel | PackageSdist | PackageArchive, needs: tuple[str, ...]
    ) -> LockedFile:
        digests = {method.lower(): digest.lower() for method, digest in found.hashes.items()}
        sha256 = digests.pop(SHA256, "")
        above = posixpath.dirname(self.path)
        path = posixpath.normpath(posixpath.join(above, found.path.replace("\\", "/"))) if found.path else ""
        file = posixpath.basename((found.url or path).partition("#")[0])
        file = file if isinstance(found, PackageArchive) else found.filename
        others = tuple(sorted(digests.items()))
        return LockedFile(name, version, file, sha256, found.size, found.url or "", path, needs, others)


def lock_source(tree: SourceTree) -> Source | None:
    """Return the lock file that a build installs from: the one that was named, else the first that there is."""
    if tree.lock:
        return tree.get(tree.lock)
    return next((found for path in READ_LOCKS if (found := tree.get(path)) is not None), None)


def is_lock_name(path: str) -> bool:
    """Tell whether a file of this name is a lock that a build installs from."""
    name = posixpath.basename(path)
    return name == UV_LOCK or is_valid_pylock_path(Path(name))


def read_lock(source: Source, extras: tuple[str, ...] = (), groups: tuple[str, ...] = ()) -> LockFile:
    """Return a lock file; raise LockError if it is not valid."""
    try:
        table = parse_toml(source.text)
        unnamed: frozenset[str] = frozenset()
        requirements = None
        if posixpath.basename(source.path) == UV_LOCK:
            requirements = locked_requirements(table)
            table, unnamed = pylock_of_uv(table)
        return LockFile(source, Pylock.from_dict(table), unnamed, requirements, extras, groups)
    except (ValueError, PylockValidationError, AttributeError, TypeError, KeyError) as problem:
        words = str(problem) or type(problem).__name__
        raise LockError("invalid", f"`{source.path}` is not a valid lock file: {words}") from None
