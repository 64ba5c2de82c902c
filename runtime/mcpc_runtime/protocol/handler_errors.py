"""Conversion of a JSON-RPC error that a handler raised into the end of its call.

The error is sent to the client if the revision allows its code: codes that the protocol reserves are used only with
their own meaning. Any other error becomes an error result of a tool, or an internal error.
"""

from __future__ import annotations

from mcpc_runtime.protocol.constants import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcpc_runtime.protocol.effects import Call, Ending, Failure, text_outcome
from mcpc_runtime.protocol.jsonrpc import Json

RESERVED_CODES = range(-32099, -32019)
"""The codes that the protocol reserves, in the stateless era."""
ASSIGNED_CODES = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION)
"""The reserved codes that have a meaning."""


def error_ending(call: Call, error: dict[str, Json]) -> Ending:
    """Return the end of a call whose handler raised an error with a code, a message and perhaps data."""
    code, message = error.get("code"), str(error.get("message"))
    is_stateless = call.request.wire.stateless
    if is_stateless and code == RESOURCE_NOT_FOUND:
        code = INVALID_PARAMS
    if type(code) is int and (code not in RESERVED_CODES or (is_stateless and code in ASSIGNED_CODES)):
        return Failure(code, message, error.get("data"))
    return text_outcome(message, is_error=True) if call.is_tool else Failure(INTERNAL_ERROR, message)
