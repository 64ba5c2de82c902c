"""What a JSON-RPC error becomes that a handler raised on purpose.

It ends the request, if its revision lets a server say it: the codes that the protocol keeps for itself mean what they
mean there and nothing else.  One that cannot be said is an error as any other, of the tool if it is a tool's.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Failure, text_outcome
from mcpc_runtime.protocol.facts import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

KEPT = range(-32099, -32019)
"""The codes that the protocol keeps for itself, in the stateless era."""
OURS = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION)
"""Those of them that it has given out."""


def ending(call: Call, raised: dict[str, Json]) -> Ending:
    """Return the end of a call whose handler raised an error with a code, a message and perhaps data."""
    code, message = raised.get("code"), str(raised.get("message"))
    is_stateless = call.request.wire.stateless
    if is_stateless and code == RESOURCE_NOT_FOUND:
        code = INVALID_PARAMS
    if type(code) is int and (code not in KEPT or (is_stateless and code in OURS)):
        return Failure(code, message, raised.get("data"))
    return text_outcome(message, is_error=True) if call.is_tool else Failure(INTERNAL_ERROR, message)
