"""The packages that an artifact carries for its handlers, ready to go into it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Span
    from mcpc.sources import Json


@dataclass(frozen=True, slots=True)
class Package:
    """One package; `tags` say for which Pythons and platforms it is, as its wheels do."""

    name: str
    version: str
    licence: str
    is_spdx: bool
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackageContents:
    """What a package adds: the top-level names to import, and about how many bytes of the artifact it takes.

    `uses`: the packages that its metadata names, those of all its extras too; `extends`: the groups of its entry
    points, by which other packages find it.
    """

    modules: frozenset[str] = frozenset()
    size: int = 0
    uses: frozenset[str] = frozenset()
    extends: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PackageRequirement:
    """A requirement of the project, and the names of the packages that are there for it: its own, and all it needs."""

    name: str
    span: Span | None
    brings: frozenset[str]


@dataclass(frozen=True, slots=True)
class Layer:
    """All of them: what goes into the artifact under `site/`.

    `modules`: the top-level names they can be imported by; `index`: what `mcpc_runtime.layer` needs to know of them;
    `files`: the bytes of each by its name under `site/`.  `complete` is false where packages are missing for a reason
    that was reported: which modules there would be, nobody knows.  `asked` and `contents` say what each requirement
    brings, and what each package is by its name.
    """

    packages: tuple[Package, ...] = ()
    modules: frozenset[str] = frozenset()
    index: Mapping[str, Json] = field(default_factory=dict, repr=False, hash=False)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, hash=False)
    complete: bool = True
    asked: tuple[PackageRequirement, ...] = ()
    contents: Mapping[str, PackageContents] = field(default_factory=dict, repr=False, hash=False)
