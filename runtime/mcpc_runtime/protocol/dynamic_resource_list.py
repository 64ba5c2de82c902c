"""A list of resources that a handler extends at run time: built-in resources first, then those of the handler.

The pages are those of the built-in resources; the handler's resources are added to the last page.
"""

from __future__ import annotations

from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call, Failure, SessionState
from mcpc_runtime.protocol.jsonrpc import parse
from mcpc_runtime.protocol.requests import Request

STATIC_RESOURCES = "known"
"""The argument of the list handler that contains the built-in resources."""


def list_resources(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return a page of resources, or for the last page the call of the handler that adds the rest."""
    method = request.method
    page: bytes | None = request.wire.page(method, request.params.get("cursor"))
    if page is None:
        return Failure(INVALID_PARAMS, "Invalid params: unknown cursor")
    static = parse(page)
    handler = session.image.template(session.image.index["live"][method])
    if type(static) is not dict or "nextCursor" in static or handler is None:
        return page
    return Call(request, handler[0], {STATIC_RESOURCES: static["resources"]})
