"""What the client of a request can be asked: what it declared, as far as the request's revision knows of it.

A client of the stateless era says so in every request, one of the handshake era when the conversation begins.
"""

from __future__ import annotations

from mcpc_runtime.protocol.facts import CAPABILITIES_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc_runtime.protocol.effects import Request
    from mcpc_runtime.protocol.jsonrpc import Json

FORMS_SINCE = "2025-06-18"
PARTS_SINCE = "2025-11-25"
"""Since then a client says which modes of elicitation it has, and whether its model may use tools."""


def declared(request: Request) -> dict[str, Json]:
    """Return the capabilities of the client that made a request."""
    wire = request.wire
    if wire.stateless:
        meta = request.params.get("_meta")
        return objects(meta.get(CAPABILITIES_KEY) if type(meta) is dict else None)
    found = objects(request.session.capabilities)
    if wire.version < FORMS_SINCE:
        found.pop("elicitation", None)
    if wire.version < PARTS_SINCE:
        found.update({name: {} for name in ("elicitation", "sampling") if name in found})
    return found


def objects(value: Json) -> dict[str, Json]:
    """Return those members of an object that are objects: nothing else declares anything."""
    return {name: item for name, item in value.items() if type(item) is dict} if type(value) is dict else {}


def supports(capabilities: dict[str, Json], name: str) -> bool:
    """Tell whether capabilities have one, given by name, with a dot before a part of it; or by an extension's id."""
    if "/" in name:
        return name in objects(capabilities.get("extensions"))
    kind, _, part = name.partition(".")
    found = capabilities.get(kind)
    if type(found) is not dict:
        return False
    if kind == "elicitation" and part in ("", "form"):
        return "form" in found or "url" not in found  # an empty object has always meant forms
    return not part or type(found.get(part)) is dict


def needed(method: str, params: dict[str, Json]) -> str:
    """Return the name of the capability that a question needs."""
    if method == "elicitation/create":
        return "elicitation.url" if params.get("mode") == "url" else "elicitation.form"
    if method == "sampling/createMessage":
        return "sampling.tools" if "tools" in params or "toolChoice" in params else "sampling"
    return "roots"


def required(names: Iterable[str]) -> dict[str, Json]:
    """Return capabilities by name as the object in which a client would declare them."""
    found: dict[str, Json] = {}
    for name in names:
        kind, _, part = name.partition(".")
        parts = found.setdefault(kind, {})
        if part and type(parts) is dict:
            parts[part] = {}
    return found
