"""Lock files of a project, read for one target: `pylock.toml` (PEP 751) and `uv.lock`, which is turned into that form.

A lock says which file of which package is installed where; whether that satisfies what the project requires is found
out by the metadata of the files (`lock_staging.py`).  `packaging.pylock` selects.

Without `--locked` a lock that does not fit is reported as a warning, and the build chooses the packages itself; one
that names no files gives versions only (`declared.py`).  A file without a SHA-256 is a warning of its own.
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
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from mcpc.diagnostics import Span, diagnose
from mcpc.packages.pep508 import normalised_name
from mcpc.packages.platforms import target_environment, wheel_tags
from mcpc.reading.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.ir.layer import RequestedPackage
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
        # Locks of both kinds write the name of a package like this.
        line = f'name = "{name}"'
        start = self.source.text.find(line) if name else -1
        end = start + len(line) if start >= 0 else len(self.source.text.partition("\n")[0])
        return Span(self.path, max(start, 0), end)

    def check_target(self, target: Target) -> None:
        """Raise LockError if the lock is not for a target."""
        try:
            # Without packages only the environments and the Pythons of the lock are compared with the target.
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
        # A lock may have been written on Windows.
        path = posixpath.normpath(posixpath.join(above, found.path.replace("\\", "/"))) if found.path else ""
        file = posixpath.basename((found.url or path).partition("#")[0])
        file = file if isinstance(found, PackageArchive) else found.filename
        others = tuple(sorted(digests.items()))
        return LockedFile(name, version, file, sha256, found.size, found.url or "", path, needs, others)


def lock_source(tree: SourceTree) -> Source | None:
    """Return the lock file that a build installs from: the one that was named, else the first that there is."""
    if tree.options.lock:
        return tree.get(tree.options.lock)
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


LOCK_AGAIN = "run `mcpc lock`"
UV_LOCK_AGAIN = "run `uv lock`, or `mcpc lock`, which writes a `pylock.toml`"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A kind of problem: the code without and with `--locked` (empty for none), and what to do."""

    plain: str
    locked: str
    hint: str


KINDS = {
    "stale": ProblemKind("MCP421", "MCP422", LOCK_AGAIN),
    "target": ProblemKind("MCP421", "MCP422", "run `mcpc lock` with `--platform` and `--python` for all its targets"),
    "unnamed": ProblemKind("", "MCP422", LOCK_AGAIN),
    "unhashed": ProblemKind("MCP426", "MCP422", LOCK_AGAIN),
    "mismatch": ProblemKind(
        "MCP422", "MCP422", "get the file again; if the new one is right, run `mcpc lock --upgrade`"
    ),
    "absent": ProblemKind("MCP423", "MCP423", "put it into a folder, and name that with `--find-links`"),
}


def lock_problem(
    problem: LockError, lock: LockFile | None, wanted: Iterable[RequestedPackage], *, locked: bool
) -> tuple[Diagnostic, ...]:
    """Return what is reported about a lock: one diagnostic or none."""
    kind = KINDS[problem.kind]
    code = kind.locked if locked else kind.plain
    if not code:
        return ()
    hint = UV_LOCK_AGAIN if kind.hint == LOCK_AGAIN and lock is not None and lock.path.endswith(UV_LOCK) else kind.hint
    span = next((item.span for item in wanted if item.span and item.name == problem.package), None)
    if lock is not None and (span is None or problem.kind == "mismatch"):
        span = lock.place_of(problem.package)
    return (diagnose(code, span, str(problem), "", hint),)


def unreadable_lock(path: str, words: str) -> Diagnostic:
    """Return that a lock cannot be read, and why."""
    return diagnose("MCP414", Span(path), words, "", "write the lock again, or remove it")


def missing_lock(tree: SourceTree) -> Diagnostic:
    """Return that there is no lock to build from."""
    named = f"`{tree.options.lock}`" if tree.options.lock else "`pylock.toml` or `uv.lock`"
    source = lock_source(tree)
    span = Span(source.path) if source is not None else None
    message = f"the project has no {named}, and `--locked` builds from nothing else"
    return diagnose("MCP422", span, message, "", LOCK_AGAIN)


NO_DIGEST = "none"
"""What stands for the method of a digest that is not there: PEP 751 has no file without one."""
OWN = ("editable", "virtual", "directory")
"""The kinds of source that the project's row may have."""


def locked_requirements(table: Mapping[str, Any]) -> dict[str, SpecifierSet] | None:
    """Return the versions that the project allowed of each package, without extras; None if the lock does not say."""
    for row in table.get("package", []):
        if any(row.get("source", {}).get(kind) == "." for kind in OWN):
            listed = row.get("metadata", {}).get("requires-dist", [])
            return {
                normalised_name(item["name"]): SpecifierSet(item.get("specifier", ""))
                for item in listed
                # Any other key names another source than the registry, for which no versions count.
                if "extra ==" not in item.get("marker", "") and item.keys() <= {"name", "specifier", "extras", "marker"}
            }
    return None


def changed_requirement(locked: Mapping[str, SpecifierSet] | None, written: Iterable[str]) -> str:
    """Return a requirement of the project that is another one than when the lock was written; empty if none is.

    Requirements with an address, and those that a workspace or a source of uv replaces, are not compared.
    """
    if locked is None:
        return ""
    for text in written:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        known = locked.get(normalised_name(requirement.name))
        if not requirement.url and known is not None and known != requirement.specifier:
            return str(requirement)
    return ""


def pylock_of_uv(table: Mapping[str, Any]) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the table of a `uv.lock` in the form of PEP 751, and the packages of which it names no file.

        [[package]]                                       [[packages]]
        name = "cffi"                                     name = "cffi"
        source = { registry = "…" }                  →
        wheels = [{ url = "…", hash = "sha256:…" }]       wheels = [{ url = "…", hashes = { sha256 = "…" } }]

    Packages that are not from a registry are left out: a build takes them from the project, or from their addresses.
    """
    rows = [row for row in table.get("package", []) if "registry" in row.get("source", {}) and "version" in row]
    made = [_row_of_uv(row) for row in rows]
    found: dict[str, Any] = {"lock-version": "1.0", "created-by": "uv"}
    found["packages"] = [row for row in made if "wheels" in row or "sdist" in row]
    if isinstance(table.get("requires-python"), str):
        found["requires-python"] = table["requires-python"]
    if table.get("supported-markers"):
        found["environments"] = table["supported-markers"]
    named = {row["name"] for row in found["packages"]}
    return found, frozenset(row["name"] for row in made) - named


def _row_of_uv(row: Mapping[str, Any]) -> dict[str, Any]:
    registry = str(row["source"]["registry"])
    made: dict[str, Any] = {"name": normalised_name(row["name"]), "version": row["version"]}
    markers = row.get("resolution-markers")
    if markers:
        made["marker"] = " or ".join(f"({text})" for text in markers)
    wheels = [file for item in row.get("wheels", ()) if (file := _file_of_uv(item, registry))]
    sdist = _file_of_uv(row["sdist"], registry) if row.get("sdist") else None
    needs = sorted({normalised_name(item["name"]) for item in row.get("dependencies", ())})
    extra = {"wheels": wheels, "sdist": sdist, "dependencies": [{"name": name} for name in needs]}
    return {**made, **{key: value for key, value in extra.items() if value}}


def _file_of_uv(item: Mapping[str, Any], registry: str) -> dict[str, Any] | None:
    """Return a file of a `uv.lock`; None if it has no place, or a name that is not of a wheel."""
    method, _, digest = str(item.get("hash", "")).partition(":")
    place = str(item.get("url") or item.get("path") or "")
    if not place:
        return None
    if place.endswith(".whl"):
        try:
            parse_wheel_filename(posixpath.basename(place))
        except InvalidWheelFilename:
            return None
    size = {"size": item["size"]} if isinstance(item.get("size"), int) else {}
    where = {"url": place} if "url" in item else {"path": posixpath.join(registry, place)}
    return {**where, **size, "hashes": {method or NO_DIGEST: digest}}
