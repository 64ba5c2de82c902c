"""The skills of a project: every folder below `skills/` with a `SKILL.md`, and all files in it.

skills/git-workflow/SKILL.md                 the skill `skill://git-workflow/SKILL.md`
skills/acme/refunds/SKILL.md                 the skill `skill://acme/refunds/SKILL.md`
skills/acme/refunds/templates/mail.txt       one of its files
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.definitions import SkillDefinition

if TYPE_CHECKING:
    from mcpc.sources import SourceTree

HOME = "skills/"
MAIN = "/SKILL.md"


def read_skills(tree: SourceTree) -> tuple[SkillDefinition, ...]:
    """Return a project's skills, ordered by folder; a nested skill is also a file of the outer one."""
    found = [path for path in tree.files if path.startswith(HOME) and path.endswith(MAIN) and path != HOME + MAIN[1:]]
    return tuple(_skill(tree, path.removesuffix(MAIN)) for path in found)


def _skill(tree: SourceTree, folder: str) -> SkillDefinition:
    files = tuple(source for path, source in tree.files.items() if path.startswith(f"{folder}/"))
    return SkillDefinition(folder.removeprefix(HOME), tree.files[folder + MAIN], files)
