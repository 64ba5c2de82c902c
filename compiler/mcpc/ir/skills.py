"""Skills (`io.modelcontextprotocol/skills`): folders of instructions for an agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.diagnostics import Span
    from mcpc.sources import Json, Source


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One file of a skill, unchanged.  `mime`: its media type."""

    uri: str
    source: Source
    mime: str


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.  `uri`: that of its SKILL.md; `frontmatter`: of that file; `files`: all files, sorted."""

    name: str
    uri: str
    span: Span
    frontmatter: dict[str, Json] = field(hash=False)
    files: tuple[SkillFile, ...]

    @property
    def folder(self) -> str:
        """The URI of its folder."""
        return self.uri.removesuffix("/SKILL.md")
