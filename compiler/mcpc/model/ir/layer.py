"""Packages that an artifact bundles for its handlers, ready to be written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mcpc.diagnostics import Span


@dataclass(frozen=True, slots=True)
class LocalPackage:
    """A package that the project contains: a wheel, or a folder of which a wheel is built.

    `path`: that of the wheel or of the folder; `files`: their bytes by path, relative to the folder.
    """

    path: str
    files: Mapping[str, bytes] = field(hash=False, repr=False)

    @property
    def is_wheel(self) -> bool:
        """Tell whether it is a wheel already."""
        return self.path.endswith(".whl")

    def digest(self) -> str:
        """Return the digest of all its files."""
        lines = (f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(self.files.items()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository, a revision of it (empty for the usual one), and the subfolder of the package (or empty)."""

    address: str
    revision: str = ""
    below: str = ""


@dataclass(frozen=True, slots=True)
class Registry:
    """A package registry: its address, and the name by which a project refers to it (or empty).

    `is_default`: it takes the place of PyPI; `is_explicit`: it has only the packages that name it.
    """

    address: str
    name: str = ""
    is_default: bool = False
    is_explicit: bool = False


@dataclass(frozen=True, slots=True)
class Origins:
    """Where packages come from: registries that a project names, folders and pages of wheels, or these alone."""

    registries: tuple[Registry, ...] = ()
    find_links: tuple[str, ...] = ()
    offline: bool = False


@dataclass(frozen=True, slots=True)
class RequestedPackage:
    """A required package.

    `name` is normalised, `text` the requirement in PEP 508 form, `hashes` the allowed digests of its files
    (`sha256:…`), `extracted` whether its files must be in a folder because it reads them there.

    `constraints`: requirements that packages must satisfy if anything brings them; `from_source`: it, and what it
    needs, may be built where there is no wheel; `local`: the project contains it; `exclude_newer`: the date up to which
    its versions, and those of what it needs, count. `repository`: it is built of that. `registry`: the name of the only
    one of the `origins` that it is taken from.
    """

    name: str
    text: str
    span: Span | None = None
    hashes: tuple[str, ...] = ()
    extracted: bool = False
    constraints: tuple[str, ...] = ()
    from_source: bool = False
    local: LocalPackage | None = None
    exclude_newer: str = ""
    repository: Repository | None = None
    registry: str = ""
    origins: Origins = Origins()


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
    # They depend on the other packages of its layer, and a package that two layers have counts once.
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
class LayerTarget:
    """A platform (its tag, empty for that of the build) with a Python that packages are for.

    `wheels`: the tags of each wheel with machine code that is used there.
    """

    platform: str
    python: str
    wheels: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Layer:
    """All bundled packages: what is written below `site/`.

    `modules`: the top-level names that can be imported; `index`: what `mcpc_runtime.artifact.packages` reads; `files`:
    the bytes of each file by its name below `site/`, and `digests` its SHA-256. `complete` is false if packages are
    missing for a reported reason, so that their modules are unknown. `asked` and `contents`: what each requirement
    brings, and the content of each package by name.  `targets`: what they are for; the first one decided the
    versions. `lock` and `resolved`: the lock that they were installed from, and its files. `staged`: where
    those of the first target are installed.
    """

    packages: tuple[Package, ...] = ()
    modules: frozenset[str] = frozenset()
    index: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, hash=False)
    digests: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    complete: bool = True
    asked: tuple[PackageRequirement, ...] = ()
    contents: Mapping[str, PackageContents] = field(default_factory=dict, repr=False, hash=False)
    targets: tuple[LayerTarget, ...] = ()
    lock: LockRecord | None = None
    resolved: tuple[ResolvedPackage, ...] = ()
    # A place on this machine, which makes no layer different from another.
    staged: str = field(default="", compare=False)


def common_targets(layers: Sequence[Layer]) -> list[LayerTarget]:
    """Return the targets that all packages of a file are for, with the wheels of all."""
    known = [{(each.platform, each.python): each.wheels for each in layer.targets} for layer in layers if layer.targets]
    shared = [key for key in known[0] if all(key in each for each in known)] if known else []
    return [LayerTarget(*key, tuple(wheel for each in known for wheel in each[key])) for key in shared]
