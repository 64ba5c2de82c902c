"""Packages that an artifact bundles for its handlers, ready to be written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Span
    from mcpc.reading import Json


@dataclass(frozen=True, slots=True)
class Package:
    """One package; `tags` are the Python and platform tags of its wheels.

    `paths`: the folders and files that only it has, by which its part of a built file is told.
    """

    name: str
    version: str
    licence: str
    is_spdx: bool
    tags: tuple[str, ...]
    paths: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class PackageContents:
    """The content of a package: its top-level modules, and its approximate size in the artifact, in bytes.

    `uses`: the packages that its metadata names, including those of all its extras; `extends`: the groups of its entry
    points, by which other packages find it; `imports`: the modules of other packages that its sources seem to import.
    """

    modules: frozenset[str] = frozenset()
    size: int = 0
    uses: frozenset[str] = frozenset()
    extends: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PackageRequirement:
    """A requirement of the project, and the packages that it brings: the named one and its dependencies."""

    name: str
    span: Span | None
    brings: frozenset[str]


@dataclass(frozen=True, slots=True)
class LockRecord:
    """The lock file that packages were installed from: its path in the project, and the SHA-256 of its bytes."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ResolvedPackage:
    """One locked file that was installed: `needs` are the names of the packages that it needs."""

    name: str
    version: str
    file: str
    sha256: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layer:
    """All bundled packages: what is written below `site/`.

    `modules`: the top-level names that can be imported; `index`: what `mcpc_runtime.artifact.packages` reads; `files`:
    the bytes of each file by its name below `site/`, and `digests` its SHA-256. `complete` is false if packages are
    missing for a reported reason, so that their modules are unknown. `asked` and `contents`: what each requirement
    brings, and the content of each package by name.  `lock` and `resolved`: the lock that they were installed from, and
    its files.
    """

    packages: tuple[Package, ...] = ()
    modules: frozenset[str] = frozenset()
    index: Mapping[str, Json] = field(default_factory=dict, repr=False, hash=False)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, hash=False)
    digests: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    complete: bool = True
    asked: tuple[PackageRequirement, ...] = ()
    contents: Mapping[str, PackageContents] = field(default_factory=dict, repr=False, hash=False)
    lock: LockRecord | None = None
    resolved: tuple[ResolvedPackage, ...] = ()
