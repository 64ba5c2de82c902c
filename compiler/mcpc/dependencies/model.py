"""What is asked for, and what was installed for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcpc.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that is asked for.

    `name` is normalised, `text` the requirement as PEP 508 spells it, `hashes` what its files may be
    (`sha256:…`), `extracted` whether its files must lie in a folder because it looks for them there.
    """

    name: str
    text: str
    span: Span | None = None
    hashes: tuple[str, ...] = ()
    extracted: bool = False


@dataclass(frozen=True, slots=True)
class Distribution:
    """A package that was installed: `tags` are those of its wheel, `files` the digest of each by its path.

    `information` is the name of its folder of metadata.
    """

    name: str
    version: str
    licence: str
    is_spdx: bool
    information: str
    tags: tuple[str, ...]
    files: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Staged:
    """A folder of installed packages, for one platform and one Python; `modules` are the top-level names to import."""

    root: Path
    distributions: tuple[Distribution, ...]
    modules: frozenset[str]
    platform: str = ""
    python: str = ""
