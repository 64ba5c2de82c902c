"""The client's capabilities: what it declared, as far as the request's revision defines it.

A client of the stateless era declares them in every request, a client of the handshake era in `initialize`.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcpc_runtime.protocol.constants import CAPABILITIES_KEY
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.requests import Request

ELICITATION_SINCE = "2025-06-18"
CAPABILITY_DETAILS_SINCE = "2025-11-25"
"""Since this revision a client declares its modes of elicitation and whether its model may use tools."""


def client_capabilities(request: Request) -> dict[str, Json]:
    """Return the capabilities of the client that sent a request."""
    wire = request.wire
    if wire.stateless:
        meta = request.params.get("_meta")
        return object_members(meta.get(CAPABILITIES_KEY) if type(meta) is dict else None)
    declared = object_members(request.session.capabilities)
    if wire.version < ELICITATION_SINCE:
        declared.pop("elicitation", None)
    if wire.version < CAPABILITY_DETAILS_SINCE:
        # What a revision does not define declares nothing, whatever the client has sent.
        declared.update({name: {} for name in ("elicitation", "sampling") if name in declared})
    return declared


def object_members(value: Json) -> dict[str, Json]:
    """Return the members of an object that are objects; other members declare nothing."""
    return {name: item for name, item in value.items() if type(item) is dict} if type(value) is dict else {}


def supports(capabilities: dict[str, Json], name: str) -> bool:
    """Tell whether a capability is declared: a name with an optional `.part`, or the id of an extension."""
    if "/" in name:
        return name in object_members(capabilities.get("extensions"))
    kind, _, detail = name.partition(".")
    declared = capabilities.get(kind)
    if type(declared) is not dict:
        return False
    if kind == "elicitation" and detail in ("", "form"):
        return "form" in declared or "url" not in declared  # an empty object has always meant forms
    return not detail or type(declared.get(detail)) is dict


def required_capability(method: str, params: dict[str, Json]) -> str:
    """Return the name of the capability that a request to the client needs."""
    if method == "elicitation/create":
        return "elicitation.url" if params.get("mode") == "url" else "elicitation.form"
    if method == "sampling/createMessage":
        return "sampling.tools" if "tools" in params or "toolChoice" in params else "sampling"
    return "roots"


def capabilities_object(names: Iterable[str]) -> dict[str, Json]:
    """Return names of capabilities as the object in which a client would declare them."""
    capabilities: dict[str, Json] = {}
    for name in names:
        kind, _, detail = name.partition(".")
        details = capabilities.setdefault(kind, {})
        if detail and type(details) is dict:
            details[detail] = {}
    return capabilities
