"""Emit skills: the list with digests and sizes, each entry by its URI, and each folder's children.

Digests are of the bytes that `resources/read` returns, and computed here.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mcpc.emit.table import add_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.model.ir import Server
    from mcpc.model.ir.nodes import Skill, SkillFile
    from mcpc.reading import Json

DIRECTORY = "inode/directory"


def skill_entry(skill: Skill) -> dict[str, Json]:
    """Return a skill's entry, as in `skills/list` and `skills/get`."""
    files: list[Json] = [
        {"uri": file.uri, "digest": f"sha256:{file_digest(file)}", "size": len(file.source.data)}
        for file in skill.files
    ]
    return {"uri": skill.uri, "frontmatter": skill.frontmatter, "resources": files}


def file_digest(file: SkillFile) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(file.source.data).hexdigest()


def add_skills(server: Server, blob: Blob, compact: Callable[[Json], bytes]) -> dict[str, tuple[int, int]]:
    """Add all skill entries and folder children to the blob; return the two tables, none without skills."""
    if not server.skills:
        return {}
    entries = {skill.uri: blob.add(compact(skill_entry(skill))) for skill in server.skills}
    folders = {folder: blob.add(compact(children)) for folder, children in directory_children(server).items()}
    return {"skills": add_table(blob, entries), "directories": add_table(blob, folders)}


def directory_children(server: Server) -> dict[str, list[Json]]:
    """Return the children of every skill folder as resources: first folders, then files, each by name."""
    found: dict[str, dict[str, Json]] = {}
    for skill in server.skills:
        for file in skill.files:
            shown: Json = {"uri": file.uri, **listed_file(skill, file)}
            child = file.uri
            while child != skill.folder:
                parent = child.rpartition("/")[0]
                found.setdefault(parent, {}).setdefault(child, shown)
                shown = {"uri": parent, "name": parent.rpartition("/")[2], "mimeType": DIRECTORY}
                child = parent
    return {folder: [children[uri] for uri in sorted(children)] for folder, children in sorted(found.items())}


def main_file(skill: Skill) -> SkillFile:
    """Return a skill's SKILL.md."""
    return next(file for file in skill.files if file.uri == skill.uri)


def listed_file(skill: Skill, file: SkillFile) -> dict[str, Json]:
    """Return the list entry of a file; a SKILL.md has the name and the description of its skill."""
    size = len(file.source.data)
    if file.uri == skill.uri:
        about = {key: skill.frontmatter[key] for key in ("name", "description")}
        return {**about, "mimeType": file.mime, "size": size}
    return {"name": file.uri.rpartition("/")[2], "mimeType": file.mime, "size": size}
