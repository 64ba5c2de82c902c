"""Skills (`io.modelcontextprotocol/skills`): folders of files that tell an agent how something is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.diagnostics import Span
    from mcpc.sources import Json, Source


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One file of a skill, byte for byte.  `uri`: by which it is read; `mime`: its media type."""

    uri: str
    source: Source
    mime: str


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.  `uri`: its SKILL.md's; `frontmatter`: what that begins with; `files`: all of its files, sorted."""

    name: str
    uri: str
    span: Span
    frontmatter: dict[str, Json] = field(hash=False)
    files: tuple[SkillFile, ...]

    @property
    def folder(self) -> str:
        """The uri of its folder."""
        return self.uri.removesuffix("/SKILL.md")
