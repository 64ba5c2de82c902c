"""Data of the packages that are installed for requirements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span


@dataclass(frozen=True, slots=True)
class WrittenRequirement:
    """A requirement as it was written: its text, or `problem` if it has none.

    `source`: where it says that the package is (`{"git": …}`, `{"path": …}`, `{"url": …}`, `{"workspace": true}`).
    """

    text: str
    span: Span
    source: Mapping[str, Any] | None = field(default=None, hash=False)
    problem: Diagnostic | None = None


@dataclass(frozen=True, slots=True)
class ProjectRequirements:
    """What the metadata of a project requires: always, with an extra, and with a dependency group.

    `name` is the normalised name of the project, empty if it has none.  Names of extras and groups are normalised.
    `declares`: requirements are declared here, so that no fallback is read.
    """

    name: str = ""
    required: tuple[WrittenRequirement, ...] = ()
    extras: Mapping[str, tuple[WrittenRequirement, ...]] = field(default_factory=dict, hash=False)
    groups: Mapping[str, tuple[WrittenRequirement, ...]] = field(default_factory=dict, hash=False)
    problems: Diagnostics = ()
    declares: bool = False


@dataclass(frozen=True, slots=True)
class Distribution:
    """An installed package: `tags` are those of its wheel, `files` the digest of each by path.

    `information` is the name of its metadata folder; `replaced`: its paths at which another package has its file.
    """

    name: str
    version: str
    licence: str
    is_spdx: bool
    information: str
    tags: tuple[str, ...]
    files: Mapping[str, str] = field(hash=False)
    replaced: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class StagedPackages:
    """A folder of installed packages, for one platform and one Python; `modules` are their top-level names."""

    root: Path
    distributions: tuple[Distribution, ...]
    modules: frozenset[str]
    platform: str = ""
    python: str = ""
