"""Skills as clients ask for them: the list with digests and sizes, each entry by its uri, each folder's children.

Digests are of the bytes that `resources/read` returns, worked out once, here.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mcpc.emit.table import add_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.ir import Server
    from mcpc.ir.skills import Skill, SkillFile
    from mcpc.sources import Json

DIRECTORY = "inode/directory"


def entry(skill: Skill) -> dict[str, Json]:
    """Return a skill's entry, as `skills/list` and `skills/get` show it."""
    files: list[Json] = [
        {"uri": file.uri, "digest": f"sha256:{digest(file)}", "size": len(file.source.data)} for file in skill.files
    ]
    return {"uri": skill.uri, "frontmatter": skill.frontmatter, "resources": files}


def digest(file: SkillFile) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(file.source.data).hexdigest()


def add_skills(server: Server, blob: Blob, compact: Callable[[Json], bytes]) -> dict[str, tuple[int, int]]:
    """Put every skill's entry and every folder's children into the blob; return the two tables, none without skills."""
    if not server.skills:
        return {}
    entries = {skill.uri: blob.add(compact(entry(skill))) for skill in server.skills}
    folders = {folder: blob.add(compact(children)) for folder, children in directories(server).items()}
    return {"skills": add_table(blob, entries), "directories": add_table(blob, folders)}


def directories(server: Server) -> dict[str, list[Json]]:
    """Return the children of every folder of a skill, as resources: folders first told as such, then by name."""
    found: dict[str, dict[str, Json]] = {}
    for skill in server.skills:
        for file in skill.files:
            shown: Json = {"uri": file.uri, **shown_file(skill, file)}
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


def shown_file(skill: Skill, file: SkillFile) -> dict[str, Json]:
    """Return what a list says of a file: of a SKILL.md the name and the description of its skill."""
    size = len(file.source.data)
    if file.uri == skill.uri:
        about = {key: skill.frontmatter[key] for key in ("name", "description")}
        return {**about, "mimeType": file.mime, "size": size}
    return {"name": file.uri.rpartition("/")[2], "mimeType": file.mime, "size": size}
