"""A list of resources that is not known before somebody asks: what was built in comes first, a handler has the rest.

Pages are those of what was built in; what the handler lists stands on the last of them.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Call, Failure
from mcpc_runtime.protocol.facts import INVALID_PARAMS
from mcpc_runtime.protocol.jsonrpc import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.protocol.effects import Request
    from mcpc_runtime.protocol.session_state import SessionState

KNOWN = "known"
"""The argument of the call that lists: the resources that were built in."""


def list_resources(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return a page of resources, or what has the rest of the last one."""
    method = request.method
    page = request.wire.page(method, request.params.get("cursor"))
    if page is None:
        return Failure(INVALID_PARAMS, "Invalid params: unknown cursor")
    known: Any = parse(page)
    found = session.image.template(session.image.index["live"][method])
    if "nextCursor" in known or found is None:
        return page
    return Call(request, found[0], {KNOWN: known["resources"]})
