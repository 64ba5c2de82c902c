"""Emit resources and skills: their records, and where their contents are.

    index["resources"]    (buckets, offset): a table by URI
    index["templates"]    ((template, pattern, ((variable, kind), …), (offset, length) of its record), …)
    index["completions"]  (buckets, offset): a table by three lines, `prompt`, its name and the argument, or `resource`,
                          the template and the variable

Records are those of `mcpc.emit.records`. A resource with static content has the contract `static`: its handler is the
position of its contents in the blob, a JSON array.

Digests are of the bytes that `resources/read` returns, and computed here.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import TYPE_CHECKING

from mcpc.emit.blob import add_table
from mcpc.emit.records import environments, handled_record, static_record
from mcpc.emit.static_answers import static_contents_of
from mcpc.model.ir import StaticContents
from mcpc.reading import compact_json
from mcpc_runtime.protocol.media import BINARIES, is_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.emit.records import Environments
    from mcpc.model.ir import Completion, Resource, ResourceTemplate, Server
    from mcpc.model.ir.handlers import PlainData
    from mcpc.model.ir.nodes import Skill, SkillFile
    from mcpc.reading import Json


def add_resources(server: Server, blob: Blob) -> dict[str, PlainData]:
    """Add resources, templates and completions to the blob; return their index keys."""
    known = environments(server)
    tables: dict[str, PlainData] = {}
    records = {file.uri: blob.add(skill_record(file, blob)) for skill in server.skills for file in skill.files}
    records |= {item.uri: blob.add(resource_record(item, blob, known)) for item in server.resources}
    if records:
        tables["resources"] = add_table(blob, records)
    if server.templates:
        tables["templates"] = tuple(template_row(item, blob, known) for item in server.templates)
    if server.completions:
        records = {item.key: blob.add(completion_record(item, known)) for item in server.completions}
        tables["completions"] = add_table(blob, records)
    return tables


def resource_record(resource: Resource, blob: Blob, known: Environments) -> bytes:
    """Return a resource's record."""
    said = {"uri": resource.uri, "mime": resource.mime}
    content = resource.content
    known_now = static_contents_of(resource.handler)
    if known_now is not None:
        return static_record("static", blob.add(known_now), **said)
    if isinstance(content, StaticContents):
        return static_record(content.contract, blob.add(static_contents(resource, content)), **said)
    if content is not None:
        return static_record(content.contract, (content.folder, content.path), **said)
    return handled_record(resource, known, **said)  # type: ignore[arg-type]


def static_contents(resource: Resource, content: StaticContents) -> bytes:
    """Return the result of `resources/read` for a resource with static content."""
    shown: dict[str, Json] = {"uri": resource.uri}
    if resource.mime:
        shown["mimeType"] = resource.mime
    shown["blob" if content.is_blob else "text"] = content.data
    if resource.metadata.meta is not None:
        shown["_meta"] = resource.metadata.meta
    return compact_json([shown])


def skill_record(file: SkillFile, blob: Blob) -> bytes:
    """Return the record of a skill's file, which is a resource."""
    shown = compact_json([{"uri": file.uri, "mimeType": file.mime, **shown_data(file.source.data, file.mime)}])
    return static_record("static", blob.add(shown), uri=file.uri, mime=file.mime)


def shown_data(data: bytes, mime: str) -> dict[str, Json]:
    """Return bytes as a text if possible, else as a blob."""
    if mime not in BINARIES.values() and is_text(data):
        return {"text": data.decode()}
    return {"blob": b64encode(data).decode()}


def template_row(template: ResourceTemplate, blob: Blob, known: Environments) -> tuple[PlainData, ...]:
    """Return a template's row of the index; its record is added to the blob."""
    said = {"uri": template.uri.text, "mime": template.mime}
    if template.content is not None:
        root = template.content
        record = static_record(root.contract, (root.folder, root.path), **said)
    else:
        record = handled_record(template, known, **said)  # type: ignore[arg-type]
    variables = tuple((variable.name, variable.kind) for variable in template.uri.variables)
    return template.uri.text, template.uri.pattern, variables, blob.add(record)


def completion_record(completion: Completion, known: Environments) -> bytes:
    """Return a completion's record."""
    if completion.handler is None:
        return static_record("values", completion.values)
    return handled_record(completion, known)  # type: ignore[arg-type]


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
    by_folder: dict[str, dict[str, Json]] = {}
    for skill in server.skills:
        for file in skill.files:
            shown: Json = {"uri": file.uri, **listed_file(skill, file)}
            child = file.uri
            # Ends: the address of each file of a skill is below that of its folder.
            while child != skill.folder:
                parent = child.rpartition("/")[0]
                # Several files lead up to the same folder, which is listed once.
                by_folder.setdefault(parent, {}).setdefault(child, shown)
                shown = {"uri": parent, "name": parent.rpartition("/")[2], "mimeType": DIRECTORY}
                child = parent
    return {folder: [children[uri] for uri in sorted(children)] for folder, children in sorted(by_folder.items())}


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
