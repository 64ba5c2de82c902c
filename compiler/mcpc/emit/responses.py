"""Emit static responses for each revision: handshakes, discovery, and lists by page.

    2025-11-25  {"name": …, "inputSchema": {"properties": {"any": true}}, "outputSchema": {"type": "array"}}
    becomes     {"name": …, "inputSchema": {"properties": {"any": {}}}}

because up to that revision a property is an object, and a structured result too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.emit.list_pages import ListPages, item_text
from mcpc.emit.resources import listed_file, main_file, skill_entry
from mcpc.model.definitions import APP_SCHEME
from mcpc.model.ir import PythonFunction
from mcpc.model.revisions import REVISIONS
from mcpc.reading import compact_json
from mcpc_runtime.protocol.constants import APPS_EXTENSION, SERVER_INFO_KEY, SKILLS_EXTENSION, TASKS_EXTENSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.emit.blob import Blob
    from mcpc.emit.list_pages import Members
    from mcpc.model.ir import FieldOrder, Prompt, PromptArgument, Resource, ResourceTemplate, Server, Tool
    from mcpc.model.ir.handlers import PlainData
    from mcpc.model.revisions import Revision
    from mcpc.reading import Json

BOOLEAN_SCHEMAS: dict[bool, Json] = {True: {}, False: {"not": {}}}


def visible_fields(fields: Mapping[str, Json], order: FieldOrder, revision_fields: tuple[str, ...]) -> dict[str, Json]:
    """Return the fields that a revision defines or that no revision defines, in their order."""
    others = {key for key, _ in order.others}
    return {key: value for key, value in fields.items() if key in revision_fields or key in others}


def project_tool(definition: Tool, revision: Revision) -> dict[str, Json]:
    """Return a tool as `tools/list` of this revision shows it."""
    own: dict[str, Json] = {
        "name": definition.name,
        "inputSchema": definition.input.listed,
        "annotations": definition.annotations.fields(),
    }
    if definition.output is not None:
        own["outputSchema"] = definition.output.value
    members = visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.tool)
    if not revision.boolean_properties:
        for field in ("inputSchema", "outputSchema"):
            if field in members:
                members[field] = without_boolean_properties(members[field])
    if not revision.any_output_schema and definition.output is not None and definition.output.type != "object":
        members.pop("outputSchema", None)
    return members


def project_prompt(definition: Prompt, revision: Revision) -> dict[str, Json]:
    """Return a prompt as `prompts/list` of this revision shows it."""
    arguments: list[Json] = [project_prompt_argument(argument, revision) for argument in definition.arguments]
    own: dict[str, Json] = {"name": definition.name, "arguments": arguments}
    return visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.prompt)


def project_prompt_argument(argument: PromptArgument, revision: Revision) -> dict[str, Json]:
    """Return an argument of a prompt as this revision shows it."""
    fields = argument.metadata.fields({"name": argument.name, "required": argument.required})
    return visible_fields(fields, argument.metadata.order, revision.prompt_argument)


def project_resource(definition: Resource, revision: Revision) -> dict[str, Json]:
    """Return a resource as `resources/list` of this revision shows it, with its type and size if known."""
    own = {**read_fields(definition), "uri": definition.uri, "size": definition.size}
    return visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.resource)


def project_resource_template(definition: ResourceTemplate, revision: Revision) -> dict[str, Json]:
    """Return a template as `resources/templates/list` of this revision shows it."""
    own = {**read_fields(definition), "uriTemplate": definition.uri.text}
    return visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.resource_template)


def read_fields(definition: Resource | ResourceTemplate) -> dict[str, Json]:
    """Return the common fields of resources and templates."""
    annotations = definition.annotations.fields()
    return {"name": definition.name, "mimeType": definition.mime, "annotations": annotations}


def project_implementation(server: Server, revision: Revision) -> dict[str, Json]:
    """Return `serverInfo` as this revision shows it."""
    return visible_fields(server.info.fields(), server.info.metadata.order, revision.implementation)


def without_boolean_properties(schema: Json) -> Json:
    """Return a schema whose root's properties are all objects."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return schema
    rewritten = {
        name: BOOLEAN_SCHEMAS[value] if isinstance(value, bool) else value for name, value in properties.items()
    }
    return {**schema, "properties": rewritten}


def as_object(value: Json) -> dict[str, Json]:
    """Return a JSON object, or an empty one for any other value."""
    return value if isinstance(value, dict) else {}


TTL_MS = 300_000
"""How long a client may cache a list: it changes only when a new file replaces this one."""
STRUCTURED = {"none": 0, "objects": 1, "any": 2}
SERVED = ("tools", "prompts", "resources", "completions", "logging", "experimental")
"""The capabilities that the runtime implements; others are left out, with a warning."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One list: its method, the key of its items, each item's members, and the items per page (0: all).

    `capability`: the capability that it requires.
    """

    method: str
    key: str
    items: tuple[Members, ...]
    page_size: int
    capability: str


def revision_rows(server: Server, blob: Blob) -> dict[str, dict[str, PlainData]]:
    """Return the index's row of each revision; the responses are added to the blob, the newest revision's first."""
    pages = ListPages(blob)
    rows = {revision.version: revision_row(server, revision, blob, pages) for revision in reversed(REVISIONS)}
    return dict(reversed(rows.items()))


def revision_row(server: Server, revision: Revision, blob: Blob, pages: ListPages) -> dict[str, PlainData]:
    """Return one revision's row (see `mcpc_runtime.protocol.image.RevisionRow`)."""
    capabilities = with_extensions(server, revision, declared_capabilities(server, revision))
    tail = result_tail(server, revision)
    answers = stateless_answers if revision.stateless else handshake_answers
    return {
        "stateless": revision.stateless,
        "batches": revision.batches,
        "structured": STRUCTURED[revision.structured],
        "content": revision.content,
        "methods": dynamic_methods(server, revision, capabilities),
        "logging": "logging" in capabilities,
        "progress_message": revision.progress_message,
        "lists": {
            listing.method: list_row(listing, blob, pages, tail + cache_tail(revision))
            for listing in listings(server, revision)
            if listing.capability in capabilities
        },
        "tail": tail,
        "cache": tail + cache_tail(revision),
        "answers": {
            method: blob.add(compact_json(answer)) for method, answer in answers(server, revision, capabilities).items()
        },
    }


def declared_capabilities(server: Server, revision: Revision) -> dict[str, Json]:
    """Return the capabilities shown to clients: the declared and implemented ones, and those implied by definitions."""
    capabilities: dict[str, Json] = {item.name: item.settings for item in server.capabilities if item.name in SERVED}
    ever = "ever" in server.changes
    if server.tools or ever or server.lists_later("tools"):
        capabilities.setdefault("tools", {})
    for name, there in (
        ("prompts", bool(server.prompts) or ever or server.lists_later("prompts")),
        ("resources", server.has_resources or ever or limits_results(server)),
        ("completions", server.completes and revision.declares_completions),
    ):
        if there:
            capabilities.setdefault(name, {})
        else:
            # Declared, but with nothing behind it.
            capabilities.pop(name, None)
    if any(isinstance(item.handler, PythonFunction) and item.handler.context for item in server.definitions):
        capabilities.setdefault("logging", {})  # a handler's context can log
    if revision.stateless:  # capabilities there are promises: announce only changes that are reported
        capabilities.update({name: {} for name in CHANGING if name in capabilities})
    for name in CHANGING:
        if name in capabilities:
            capabilities[name] = {**as_object(capabilities[name]), **change_capability(server, name)}
    return capabilities


def limits_results(server: Server) -> bool:
    """Tell whether results of tools may be cut, whose whole is a resource."""
    run_time = server.run_time is not None and bool(server.run_time.running.max_result)
    return run_time or any(tool.running.max_result for tool in server.tools)


def with_extensions(server: Server, revision: Revision, capabilities: dict[str, Json]) -> dict[str, Json]:
    """Return capabilities with the supported extensions; MCP defines extensions in the stateless era only."""
    there = {
        TASKS_EXTENSION: server.has_tasks,
        SKILLS_EXTENSION: bool(server.skills),
        APPS_EXTENSION: any(resource.uri.startswith(APP_SCHEME) for resource in server.resources),
    }
    extensions: dict[str, Json] = {name: SETTINGS.get(name, {}) for name, is_there in there.items() if is_there}
    extensions |= dict(server.run_time.extensions) if server.run_time is not None else {}
    has_any = revision.stateless or server.traits.announces_extensions
    return {**capabilities, "extensions": extensions} if extensions and has_any else capabilities


SETTINGS: dict[str, Json] = {SKILLS_EXTENSION: {"directoryRead": True}}
"""Settings of extensions that are not an empty object."""
CHANGING = ("tools", "prompts", "resources")


def change_capability(server: Server, name: str) -> dict[str, Json]:
    """Return the change notifications of a capability: of the list, or of a resource's contents."""
    is_announced = name in server.changes or server.lists_later(name)
    capabilities: dict[str, Json] = {"listChanged": True} if is_announced else {}
    if name == "resources" and server.is_watched:
        capabilities["subscribe"] = True
    return capabilities


def dynamic_methods(server: Server, revision: Revision, capabilities: dict[str, Json]) -> tuple[str, ...]:
    """Return the methods that need more than a static response."""
    named = {"tools": ("tools/call",), "prompts": ("prompts/get",), "resources": ("resources/read",)}
    called = [method for capability, methods in named.items() if capability in capabilities for method in methods]
    if server.completes:
        called.append("completion/complete")
    if "resources" in capabilities:
        called += (method for method, _ in server.live_lists)
    if revision.stateless:
        called += ["resources/directory/read", "skills/get"] if server.skills else []
        called += ["tasks/cancel", "tasks/get", "tasks/update"] if server.has_tasks else []
        called += (
            ["subscriptions/listen"]
            if server.has_tasks or any(map(promises_notifications, capabilities.values()))
            else []
        )
        return tuple(sorted(called))
    called.append("initialize")
    if "logging" in capabilities:
        called.append("logging/setLevel")
    if "resources" in capabilities and server.is_watched:
        called += ["resources/subscribe", "resources/unsubscribe"]
    return tuple(sorted(called))


def promises_notifications(capability: Json) -> bool:
    """Tell whether a capability promises change notifications."""
    return isinstance(capability, dict) and (capability.get("listChanged") or capability.get("subscribe")) is True


def handshake_answers(server: Server, revision: Revision, capabilities: dict[str, Json]) -> dict[str, Json]:
    """Return the responses of the handshake era; `initialize` keeps the order of the definition."""
    own: dict[str, Json] = {
        "protocolVersion": revision.version,
        "serverInfo": project_implementation(server, revision),
        "capabilities": capabilities,
        "instructions": server.instructions,
    }
    return {"initialize": server.metadata.fields(own), "ping": {}}


def stateless_answers(server: Server, revision: Revision, capabilities: dict[str, Json]) -> dict[str, Json]:
    """Return the responses of the stateless era."""
    versions: list[Json] = [known.version for known in REVISIONS if known.stateless]
    result: dict[str, Json] = {"supportedVersions": versions, "capabilities": capabilities}
    if server.instructions:
        result["instructions"] = server.instructions
    result.update(resultType="complete", ttlMs=TTL_MS, cacheScope="public", _meta=result_meta(server, revision))
    return {"server/discover": result}


def result_meta(server: Server, revision: Revision) -> dict[str, Json]:
    """Return the `_meta` of every stateless result."""
    return {SERVER_INFO_KEY: project_implementation(server, revision)}


def result_tail(server: Server, revision: Revision) -> bytes:
    """Return the members that end every result of this revision, as JSON text that follows other members."""
    if not revision.stateless:
        return b""
    # Without the braces, so that the members go on in an object that others began.
    return b"," + compact_json({"resultType": "complete", "_meta": result_meta(server, revision)})[1:-1]


def cache_tail(revision: Revision) -> bytes:
    """Return the members of a list result about caching."""
    return b"," + compact_json({"ttlMs": TTL_MS, "cacheScope": "public"})[1:-1] if revision.stateless else b""


def listings(server: Server, revision: Revision) -> tuple[Listing, ...]:
    """Return the lists this server has."""
    tools = tuple(json_members(project_tool(tool, revision)) for tool in server.listed_tools)
    prompts = tuple(json_members(project_prompt(prompt, revision)) for prompt in server.prompts)
    resources = tuple(json_members(project_resource(resource, revision)) for resource in server.resources)
    templates = tuple(json_members(project_resource_template(item, revision)) for item in server.templates)
    resources += tuple(json_members({"uri": item.uri, **listed_file(item, main_file(item))}) for item in server.skills)
    skills = tuple(json_members(skill_entry(skill)) for skill in server.skills)
    size = server.resources_page_size
    listed = (Listing("skills/list", "skills", skills, size, "extensions"),) if skills else ()
    return (
        *listed,
        Listing("tools/list", "tools", tools, server.tools_page_size, "tools"),
        Listing("prompts/list", "prompts", prompts, server.prompts_page_size, "prompts"),
        Listing("resources/list", "resources", resources, size, "resources"),
        Listing("resources/templates/list", "resourceTemplates", templates, size, "resources"),
    )


def json_members(item: dict[str, Json]) -> Members:
    """Return the members of an item as JSON."""
    return tuple(compact_json({key: value})[1:-1] for key, value in item.items())


def list_row(listing: Listing, blob: Blob, pages: ListPages, end: bytes) -> tuple[bytes, int, int, bytes, bytes]:
    """Add a list's pages to the blob; return its key, pages, table of pages, fingerprint, and the end of a result."""
    split = split_pages(listing.items, listing.page_size)
    places = [pages.add(listing.method, number, items) for number, items in enumerate(split)]
    table = b"".join(offset.to_bytes(4, "little") + length.to_bytes(4, "little") for offset, length in places)
    texts = b"\n".join(b",".join(map(item_text, items)) for items in split)
    # Part of each cursor: one of another build, or of a list that has changed, is refused.
    fingerprint = hashlib.sha256(texts).hexdigest()[:12].encode()
    return listing.key.encode(), len(split), blob.add(table)[0], fingerprint, end


def split_pages(items: Sequence[Members], size: int) -> list[Sequence[Members]]:
    """Split a list into pages; without a page size, and for an empty list, there is one."""
    if not size or not items:
        return [items]
    return [items[start : start + size] for start in range(0, len(items), size)]
