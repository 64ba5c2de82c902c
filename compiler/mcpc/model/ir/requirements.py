"""A package that a project requires."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
