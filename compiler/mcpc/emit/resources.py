"""Resources, templates and completions behind the index; what a server has not is not there.

    index["resources"]    (buckets, offset): a table by uri
    index["templates"]    ((template, pattern, ((variable, kind), …), (offset, length) of its record), …)
    index["completions"]  (buckets, offset): a table by three lines, `prompt`, its name and the argument, or `resource`,
                          the template and the variable

Records are those of `mcpc.emit.records`.  A resource that is known is `static`: its handler is the place of its
contents in the blob, a JSON array.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from mcpc.definitions.media import BINARIES, is_text
from mcpc.emit import projections
from mcpc.emit.known import known_contents
from mcpc.emit.records import environments, handled_record, known_record
from mcpc.emit.responses import compact
from mcpc.emit.table import add_table
from mcpc.ir import Contents

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob
    from mcpc.emit.records import Environments
    from mcpc.ir import Completion, Resource, ResourceTemplate, Server
    from mcpc.ir.skills import SkillFile
    from mcpc.sources import Json


def add_resources(server: Server, blob: Blob) -> dict[str, Any]:
    """Put resources, templates and completions into the blob; return what the index says of them."""
    known = environments(server)
    found: dict[str, Any] = {}
    records = {file.uri: blob.add(skill_record(file, blob)) for skill in server.skills for file in skill.files}
    records |= {one.uri: blob.add(resource_record(one, blob, known)) for one in server.resources}
    if records:
        found["resources"] = add_table(blob, records)
    if server.templates:
        found["templates"] = tuple(template_row(one, blob, known) for one in server.templates)
    if server.completions:
        records = {one.key: blob.add(completion_record(one, known)) for one in server.completions}
        found["completions"] = add_table(blob, records)
    return found


def resource_record(resource: Resource, blob: Blob, known: Environments) -> bytes:
    """Return a resource's record."""
    said = {"uri": resource.uri, "mime": resource.mime}
    content = resource.content
    known_now = known_contents(resource.handler)
    if known_now is not None:
        return known_record("static", blob.add(known_now), **said)
    if isinstance(content, Contents):
        return known_record(content.contract, blob.add(contents(resource, content)), **said)
    if content is not None:
        return known_record(content.contract, (content.folder, content.path), **said)
    return handled_record(resource, known, **said)  # type: ignore[arg-type]


def contents(resource: Resource, content: Contents) -> bytes:
    """Return what `resources/read` says of a resource that is known."""
    meta = projections.for_clients(projections.as_object(resource.members.value)).get("_meta")
    shown: dict[str, Json] = {"uri": resource.uri}
    if resource.mime:
        shown["mimeType"] = resource.mime
    shown["blob" if content.is_blob else "text"] = content.data
    if meta is not None:
        shown["_meta"] = meta
    return compact([shown])


def skill_record(file: SkillFile, blob: Blob) -> bytes:
    """Return the record of a skill's file, which is a resource like any other."""
    shown = compact([{"uri": file.uri, "mimeType": file.mime, **shown_data(file.source.data, file.mime)}])
    return known_record("static", blob.add(shown), uri=file.uri, mime=file.mime)


def shown_data(data: bytes, mime: str) -> dict[str, Json]:
    """Return bytes as a text, if that is what they are, or as a blob."""
    if mime not in BINARIES.values() and is_text(data):
        return {"text": data.decode()}
    return {"blob": b64encode(data).decode()}


def template_row(template: ResourceTemplate, blob: Blob, known: Environments) -> tuple[Any, ...]:
    """Return a template's row of the index; its record goes into the blob."""
    said = {"uri": template.uri.text, "mime": template.mime}
    if template.content is not None:
        root = template.content
        record = known_record(root.contract, (root.folder, root.path), **said)
    else:
        record = handled_record(template, known, **said)  # type: ignore[arg-type]
    variables = tuple((variable.name, variable.kind) for variable in template.uri.variables)
    return template.uri.text, template.uri.pattern, variables, blob.add(record)


def completion_record(completion: Completion, known: Environments) -> bytes:
    """Return a completion's record."""
    if completion.handler is None:
        return known_record("values", completion.values)
    return handled_record(completion, known)  # type: ignore[arg-type]
