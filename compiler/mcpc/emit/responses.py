"""Every answer that never changes, made at build time: handshakes, discovery, lists, page by page, per revision."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.definitions.media import APP_SCHEME
from mcpc.emit import projections
from mcpc.emit.skills import entry, main_file, shown_file
from mcpc.ir import PythonFunction
from mcpc.revisions import REVISIONS
from mcpc_runtime.protocol.facts import APPS_EXTENSION, SERVER_INFO_KEY, SKILLS_EXTENSION, TASKS_EXTENSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.emit.blob import Blob
    from mcpc.ir import Server
    from mcpc.revisions import Revision
    from mcpc.sources import Json

TTL_MS = 300_000
"""How long a client may keep a list: it changes only when a new file takes the place of this one."""
STRUCTURED = {"none": 0, "objects": 1, "any": 2}
SERVED = ("tools", "prompts", "resources", "completions", "logging", "experimental")
"""The capabilities this version can honour; what else a definition declares is left out (and was warned about)."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One list: its method, the key of its items, each item as JSON, and the items a page holds (0: all).

    `capability`: without which there is no such list.
    """

    method: str
    key: str
    items: tuple[bytes, ...]
    page_size: int
    capability: str


def compact(value: Json) -> bytes:
    """Return JSON without spaces, in UTF-8; a lone surrogate stays an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def revision_rows(server: Server, blob: Blob) -> dict[str, dict[str, Any]]:
    """Return the index's row of each revision; the answers themselves go into the blob."""
    return {revision.version: row(server, revision, blob) for revision in REVISIONS}


def row(server: Server, revision: Revision, blob: Blob) -> dict[str, Any]:
    """Return one revision's row (see `mcpc_runtime.image.Wire`)."""
    capabilities = with_extensions(server, revision, declared_capabilities(server, revision))
    result_tail = tail(server, revision)
    answers = stateless_answers if revision.stateless else handshake_answers
    return {
        "stateless": revision.stateless,
        "batches": revision.batches,
        "structured": STRUCTURED[revision.structured],
        "content": revision.content,
        "methods": methods(server, revision, capabilities),
        "logging": "logging" in capabilities,
        "progress_message": revision.progress_message,
        "lists": {
            listing.method: list_row(listing, blob, result_tail + cache_tail(revision))
            for listing in listings(server, revision)
            if listing.capability in capabilities
        },
        "tail": result_tail,
        "cache": result_tail + cache_tail(revision),
        "answers": {
            method: blob.add(compact(answer)) for method, answer in answers(server, revision, capabilities).items()
        },
    }


def declared_capabilities(server: Server, revision: Revision) -> dict[str, Json]:
    """Return the capabilities a client is told: as declared where they are served, and those the definitions imply."""
    declared = projections.as_object(projections.as_object(server.node.value).get("capabilities"))
    told = {name: value for name, value in declared.items() if name in SERVED}
    ever = "ever" in server.changes
    if server.tools or ever:
        told.setdefault("tools", {})
    for name, there in (
        ("prompts", bool(server.prompts) or ever),
        ("resources", server.has_resources or ever),
        ("completions", server.completes and revision.declares_completions),
    ):
        if there:
            told.setdefault(name, {})
        else:
            told.pop(name, None)
    if any(isinstance(one.handler, PythonFunction) and one.handler.context for one in server.definitions):
        told.setdefault("logging", {})  # a context can log
    if revision.stateless:  # a capability there is a promise: what nobody tells of does not change
        told.update({name: {} for name in CHANGING if name in told})
    for name in CHANGING:
        if name in told:
            told[name] = {**projections.as_object(told[name]), **changing(server, name)}
    return told


def with_extensions(server: Server, revision: Revision, told: dict[str, Json]) -> dict[str, Json]:
    """Return capabilities with the extensions that the server honours; MCP has any in the stateless era alone."""
    there = {
        TASKS_EXTENSION: has_tasks(server),
        SKILLS_EXTENSION: bool(server.skills),
        APPS_EXTENSION: any(resource.uri.startswith(APP_SCHEME) for resource in server.resources),
    }
    found: dict[str, Json] = {name: SETTINGS.get(name, {}) for name, is_there in there.items() if is_there}
    has_any = revision.stateless or server.dialect in ALWAYS_EXTENDED
    return {**told, "extensions": found} if found and has_any else told


ALWAYS_EXTENDED = frozenset({"mcp-bash"})
"""Dialects that announce extensions in every revision."""
SETTINGS: dict[str, Json] = {SKILLS_EXTENSION: {"directoryRead": True}}
"""What an extension is told with, where that is not an empty object."""
CHANGING = ("tools", "prompts", "resources")


def changing(server: Server, name: str) -> dict[str, Json]:
    """Return what clients may be told of later: that a list is another one, or a resource's contents are."""
    told: dict[str, Json] = {"listChanged": True} if name in server.changes else {}
    if name == "resources" and is_watched(server):
        told["subscribe"] = True
    return told


def has_tasks(server: Server) -> bool:
    """Tell whether calls of a tool may become tasks."""
    return any(tool.running.task for tool in server.tools)


def is_watched(server: Server) -> bool:
    """Tell whether clients may ask to be told of a resource's new contents: the project tells, or says that it does."""
    declared = server.node.get("capabilities")
    resources = declared.get("resources") if declared is not None else None
    subscribe = resources.get("subscribe") if resources is not None else None
    return "contents" in server.changes or (subscribe is not None and subscribe.value is True)


def methods(server: Server, revision: Revision, capabilities: dict[str, Json]) -> tuple[str, ...]:
    """Return the methods that need more than a ready answer."""
    named = {"tools": ("tools/call",), "prompts": ("prompts/get",), "resources": ("resources/read",)}
    called = [method for capability, found in named.items() if capability in capabilities for method in found]
    if server.completes:
        called.append("completion/complete")
    if "resources" in capabilities:
        called += dict(server.settings).get("live", ())
    if revision.stateless:
        called += ["resources/directory/read", "skills/get"] if server.skills else []
        called += ["tasks/cancel", "tasks/get", "tasks/update"] if has_tasks(server) else []
        called += ["subscriptions/listen"] if has_tasks(server) or any(map(is_told, capabilities.values())) else []
        return tuple(sorted(called))
    called.append("initialize")
    if "logging" in capabilities:
        called.append("logging/setLevel")
    if "resources" in capabilities and is_watched(server):
        called += ["resources/subscribe", "resources/unsubscribe"]
    return tuple(sorted(called))


def is_told(capability: Json) -> bool:
    """Tell whether a capability promises that clients are told of changes."""
    return isinstance(capability, dict) and (capability.get("listChanged") or capability.get("subscribe")) is True


def handshake_answers(server: Server, revision: Revision, capabilities: dict[str, Json]) -> dict[str, Json]:
    """Return the answers of the handshake era; `initialize` keeps the members and the order of the definition."""
    members = projections.for_clients(projections.as_object(server.node.value))
    result: dict[str, Json] = {"protocolVersion": revision.version}
    result.update({name: value for name, value in members.items() if name != "protocolVersion"})
    if next(iter(members), "") != "protocolVersion" and "protocolVersion" in members:
        result = {name: revision.version if name == "protocolVersion" else value for name, value in members.items()}
    result["serverInfo"] = projections.implementation(server, revision)
    result["capabilities"] = capabilities
    return {"initialize": result, "ping": {}}


def stateless_answers(server: Server, revision: Revision, capabilities: dict[str, Json]) -> dict[str, Json]:
    """Return the answers of the stateless era."""
    versions: list[Json] = [known.version for known in REVISIONS if known.stateless]
    result: dict[str, Json] = {"supportedVersions": versions, "capabilities": capabilities}
    if server.instructions:
        result["instructions"] = server.instructions
    result.update(resultType="complete", ttlMs=TTL_MS, cacheScope="public", _meta=result_meta(server, revision))
    return {"server/discover": result}


def result_meta(server: Server, revision: Revision) -> dict[str, Json]:
    """Return the `_meta` of every stateless result."""
    return {SERVER_INFO_KEY: projections.implementation(server, revision)}


def tail(server: Server, revision: Revision) -> bytes:
    """Return what this revision wants at the end of every result, ready to follow a result's own members."""
    if not revision.stateless:
        return b""
    return b"," + compact({"resultType": "complete", "_meta": result_meta(server, revision)})[1:-1]


def cache_tail(revision: Revision) -> bytes:
    """Return what a list says about how long it may be kept."""
    return b"," + compact({"ttlMs": TTL_MS, "cacheScope": "public"})[1:-1] if revision.stateless else b""


def listings(server: Server, revision: Revision) -> tuple[Listing, ...]:
    """Return the lists this server has."""
    tools = tuple(compact(projections.tool(tool, revision)) for tool in server.tools)
    prompts = tuple(compact(projections.prompt(prompt, revision)) for prompt in server.prompts)
    resources = tuple(compact(projections.resource(resource, revision)) for resource in server.resources)
    templates = tuple(compact(projections.resource_template(one, revision)) for one in server.templates)
    resources += tuple(compact({"uri": one.uri, **shown_file(one, main_file(one))}) for one in server.skills)
    skills = tuple(compact(entry(skill)) for skill in server.skills)
    size = server.resources_page_size
    listed = (Listing("skills/list", "skills", skills, size, "extensions"),) if skills else ()
    return (
        *listed,
        Listing("tools/list", "tools", tools, server.tools_page_size, "tools"),
        Listing("prompts/list", "prompts", prompts, server.prompts_page_size, "prompts"),
        Listing("resources/list", "resources", resources, size, "resources"),
        Listing("resources/templates/list", "resourceTemplates", templates, size, "resources"),
    )


def list_row(listing: Listing, blob: Blob, end: bytes) -> tuple[bytes, int, int, bytes, bytes]:
    """Put a list's pages into the blob; return its key, pages, table of pages, fingerprint, and what ends a result."""
    pages = [b",".join(page) for page in paged(listing.items, listing.page_size)]
    places = [blob.add(page) for page in pages]
    table = b"".join(offset.to_bytes(4, "little") + length.to_bytes(4, "little") for offset, length in places)
    fingerprint = hashlib.sha256(b"\n".join(pages)).hexdigest()[:12].encode()
    return listing.key.encode(), len(pages), blob.add(table)[0], fingerprint, end


def paged(items: Sequence[bytes], size: int) -> list[Sequence[bytes]]:
    """Cut a list into pages; without a page size, and for an empty list, there is one."""
    if not size or not items:
        return [items]
    return [items[start : start + size] for start in range(0, len(items), size)]
