"""Read a built file: build information, manifest, lists, and replies to single requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcpc_runtime.protocol.constants import CAPABILITIES_KEY, VERSION_KEY
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.operations import operations_of
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session

Object = dict[str, Any]
"""A JSON object that the server generated, whose members are known."""


def build_info(image: Image) -> Object:
    """Return the build information."""
    try:
        build: Object = json.loads(image.entry("META-INF/build.json"))
    except (OSError, KeyError, ValueError):
        return UNKNOWN_BUILD
    return build


UNKNOWN_BUILD: Object = {
    **dict.fromkeys(("name", "version", "runsOn", "mcpc", "sourceDigest"), "?"),
    **dict.fromkeys(("tools", "prompts"), 0),
    **dict.fromkeys(("revisions", "handlers"), ()),
    "python": {"requires": "?", "bytecode": "?"},
}
"""The build information of a file that lost it; `check` reports that."""


def read_manifest(image: Image) -> dict[str, str]:
    """Return the digest of each entry at build time, from the manifest in the format of `sha256sum`."""
    digests = {}
    for line in image.entry(MANIFEST).decode().split("\n"):
        # As in `sha256sum`, a line with an escaped name begins with a backslash.
        escaped = line.startswith("\\")
        checksum, _, name = line.removeprefix("\\").partition("  ")
        if name:
            digests[unescape_name(name) if escaped else name] = checksum
    return digests


def unescape_name(name: str) -> str:
    """Return a name without the escapes of the manifest."""
    # Split at escaped backslashes first: in `\\n`, the `n` is a letter.
    return "\\".join(part.replace("\\n", "\n").replace("\\r", "\r") for part in name.split("\\\\"))


MANIFEST = "META-INF/manifest.sha256"


def opening_request(image: Image, version: str) -> tuple[str, dict[str, Json]]:
    """Return the first request of a client that speaks `version`."""
    if version in image.stateless_versions:
        return "server/discover", {"_meta": {VERSION_KEY: version, CAPABILITIES_KEY: {}}}
    client: Json = {"name": "check", "version": "1"}
    return "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client}


def send_request(image: Image, method: str, params: dict[str, Json]) -> Object:
    """Return the reply of a new session to a request that needs no handler."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    effects = Session(image).receive(json.dumps(body).encode())
    line = next(effect.data for effect in effects if type(effect) is SendResponse)
    reply: Object = json.loads(line)
    return reply


def opening_reply(image: Image) -> Object:
    """Return what the server says about itself: `serverInfo`, `instructions`, `capabilities`."""
    said: Object = send_request(image, *opening_request(image, image.handshake_versions[-1])).get("result", {})
    return said


def update_key(build: Object) -> str:
    """Return the public key that must have signed what replaces a file; an empty text if none may."""
    return str(build.get("options", {}).get("update_key", ""))


LISTS = {"resourceTemplates": "resources/templates/list"}
"""Lists whose method name differs from the key of their items."""


def operation_entries(image: Image) -> list[Object]:
    """Return the tools that are not listed, as a list would have them."""
    if "operations" not in image.index:
        return []
    return [*map(json.loads, operations_of(image).entries().values())]


def list_all(image: Image, kind: str, send: Callable[[Image, str, Object], Object] | None = None) -> list[Object]:
    """Return all items of a list, page by page, in the newest revision.

    `send` sends the requests for a list that is made at run time; without it such a list has no items.
    """
    method = LISTS.get(kind, f"{kind}/list")
    items: list[Object] = []
    meta: Json = {VERSION_KEY: image.stateless_versions[-1], CAPABILITIES_KEY: {}}
    params: dict[str, Json] = {"_meta": meta}
    if method not in image.run_time_lists:
        send = send_request
    while send is not None:
        result = send(image, method, params).get("result", {})
        items += result.get(kind, [])
        if "nextCursor" not in result:
            return items
        params = {"_meta": meta, "cursor": result["nextCursor"]}
    return items
