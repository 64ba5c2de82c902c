"""What a built file says of itself when it is asked: the facts of its build, its entries, its lists, its replies."""

from __future__ import annotations

import json

from mcpc_runtime.protocol.constants import CAPABILITIES_KEY, VERSION_KEY
from mcpc_runtime.protocol.effects import SendResponse
from mcpc_runtime.protocol.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.image.image import Image
    from mcpc_runtime.protocol.jsonrpc import Json

    Object = dict[str, Any]
    """A JSON object of the server's own, whose members are known."""


def facts(image: Image) -> Object:
    """Return the facts of the build."""
    try:
        known: Object = json.loads(image.entry("META-INF/build.json"))
    except (OSError, KeyError, ValueError):
        return UNKNOWN
    return known


UNKNOWN: Object = {
    **dict.fromkeys(("name", "version", "mcpc", "sourceDigest"), "?"),
    **dict.fromkeys(("tools", "prompts"), 0),
    **dict.fromkeys(("revisions", "handlers"), ()),
    "python": {"requires": "?", "bytecode": "?"},
}
"""The facts of a build that lost them; `check` says so."""


def manifest(image: Image) -> dict[str, str]:
    """Return each entry's digest, as it was when the file was built, in the form of `sha256sum`."""
    found = {}
    for line in image.entry(MANIFEST).decode().split("\n"):
        escaped = line.startswith("\\")
        checksum, _, name = line.removeprefix("\\").partition("  ")
        if name:
            found[unescaped(name) if escaped else name] = checksum
    return found


def unescaped(name: str) -> str:
    """Return a name as it was before it was written into one line."""
    return "\\".join(part.replace("\\n", "\n").replace("\\r", "\r") for part in name.split("\\\\"))


MANIFEST = "META-INF/manifest.sha256"


def opening(image: Image, version: str) -> tuple[str, dict[str, Json]]:
    """Return the first request of a client that speaks `version`."""
    if version in image.stateless_versions:
        return "server/discover", {"_meta": {VERSION_KEY: version, CAPABILITIES_KEY: {}}}
    client: Json = {"name": "check", "version": "1"}
    return "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client}


def ask(image: Image, method: str, params: dict[str, Json]) -> Object:
    """Return the reply of a new session to one request that needs no handler."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    effects = Session(image).receive(json.dumps(body).encode())
    line = next(effect.data for effect in effects if type(effect) is SendResponse)
    reply: Object = json.loads(line)
    return reply


LISTS = {"resourceTemplates": "resources/templates/list"}
"""The lists whose method is not called as their items are."""


def listed(image: Image, kind: str) -> list[Object]:
    """Return all of a list, page by page, as the newest revision shows it."""
    method = LISTS.get(kind, f"{kind}/list")
    items: list[Object] = []
    meta: Json = {VERSION_KEY: image.stateless_versions[-1], CAPABILITIES_KEY: {}}
    params: dict[str, Json] = {"_meta": meta}
    while True:
        result = ask(image, method, params).get("result", {})
        items += result.get(kind, [])
        if "nextCursor" not in result:
            return items
        params = {"_meta": meta, "cursor": result["nextCursor"]}
