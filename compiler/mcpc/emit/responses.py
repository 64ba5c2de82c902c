"""Every answer that never changes, made at build time: handshakes, discovery, lists, page by page, per revision."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.emit import projections
from mcpc.ir import PythonFunction
from mcpc.revisions import REVISIONS
from mcpc_runtime.protocol.facts import SERVER_INFO_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.emit.blob import Blob
    from mcpc.ir import Server
    from mcpc.revisions import Revision
    from mcpc.sources import Json

TTL_MS = 300_000
"""How long a client may keep a list: it changes only when a new file takes the place of this one."""
STRUCTURED = {"none": 0, "objects": 1, "any": 2}
SERVED = ("tools", "prompts", "logging", "experimental")
"""The capabilities this version can honour; what else a definition declares is left out (and was warned about)."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One list: its method, the key of its items, each item as JSON, and the items a page holds (0: all)."""

    method: str
    key: str
    items: tuple[bytes, ...]
    page_size: int


def compact(value: Json) -> bytes:
    """Return JSON without spaces, in UTF-8; a lone surrogate stays an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def revision_rows(server: Server, blob: Blob) -> dict[str, dict[str, Any]]:
    """Return the index's row of each revision; the answers themselves go into the blob."""
    return {revision.version: row(server, revision, blob) for revision in REVISIONS}


def row(server: Server, revision: Revision, blob: Blob) -> dict[str, Any]:
    """Return one revision's row (see `mcpc_runtime.image.Wire`)."""
    capabilities = declared_capabilities(server, revision)
    result_tail = tail(server, revision)
    answers = stateless_answers if revision.stateless else handshake_answers
    return {
        "stateless": revision.stateless,
        "batches": revision.batches,
        "structured": STRUCTURED[revision.structured],
        "content": revision.content,
        "methods": methods(revision, capabilities),
        "logging": "logging" in capabilities,
        "progress_message": revision.progress_message,
        "lists": {
            listing.method: list_row(listing, blob, result_tail + cache_tail(revision))
            for listing in listings(server, revision)
            if listing.key in capabilities
        },
        "tail": result_tail,
        "answers": {
            method: blob.add(compact(answer)) for method, answer in answers(server, revision, capabilities).items()
        },
    }


def declared_capabilities(server: Server, revision: Revision) -> dict[str, Json]:
    """Return the capabilities a client is told: as declared where they are served, and those the definitions imply."""
    declared = projections.as_object(projections.as_object(server.node.value).get("capabilities"))
    told = {name: value for name, value in declared.items() if name in SERVED}
    if server.tools:
        told.setdefault("tools", {})
    if server.prompts:
        told.setdefault("prompts", {})
    else:
        told.pop("prompts", None)
    if any(isinstance(one.handler, PythonFunction) and one.handler.context for one in server.definitions):
        told.setdefault("logging", {})  # a context can log
    if revision.stateless:  # a capability there is a promise: nothing changes while this file serves
        told.update({name: {} for name in ("tools", "prompts") if name in told})
    return told


def methods(revision: Revision, capabilities: dict[str, Json]) -> tuple[str, ...]:
    """Return the methods that need more than a ready answer."""
    named = {"tools": ("tools/call",), "prompts": ("prompts/get",)}
    called = [method for capability, found in named.items() if capability in capabilities for method in found]
    if not revision.stateless:
        called.append("initialize")
        if "logging" in capabilities:
            called.append("logging/setLevel")
    return tuple(sorted(called))


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
    return (
        Listing("tools/list", "tools", tools, server.tools_page_size),
        Listing("prompts/list", "prompts", prompts, server.prompts_page_size),
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
