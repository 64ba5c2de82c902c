"""The trace that a request is part of (W3C Trace Context, and Baggage), as programs that a handler starts look for it.

What does not have the form of the specification is passed over: it could have been meant for somebody else's parser.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Call
    from mcpc_runtime.protocol.jsonrpc import Json

MOST_STATE, MOST_BAGGAGE = 512, 8192
HEXADECIMAL = frozenset("0123456789abcdef")


def trace_of(call: Call) -> dict[bytes, bytes]:
    """Return the environment variables that tell a call's trace; none if its request has none."""
    meta = call.request.params.get("_meta")
    if type(meta) is not dict:
        return {}
    found: dict[bytes, bytes] = {}
    parent, state, baggage = meta.get("traceparent"), meta.get("tracestate"), meta.get("baggage")
    if type(parent) is str and is_parent(parent):
        found[b"TRACEPARENT"] = parent.encode("ascii")
        if is_list(state, MOST_STATE):
            found[b"TRACESTATE"] = state.encode("ascii")  # type: ignore[union-attr]
    if is_list(baggage, MOST_BAGGAGE):
        found[b"BAGGAGE"] = baggage.encode("ascii")  # type: ignore[union-attr]
    return found


def is_parent(value: str) -> bool:
    """Tell whether this is a `traceparent`: version, trace, span, flags; neither id all zeros, and no version `ff`."""
    parts = value.split("-")
    if len(value) > 128 or len(parts) < 4 or [len(part) for part in parts[:4]] != [2, 32, 16, 2]:
        return False
    if not HEXADECIMAL.issuperset("".join(parts[:4])) or not value.isascii() or not value.isprintable():
        return False
    exact = len(parts) == 4 or parts[0] != "00"
    return exact and parts[0] != "ff" and bool(int(parts[1], 16)) and bool(int(parts[2], 16))


def is_list(value: Json, most: int) -> bool:
    """Tell whether this could be a list of members as a header holds it: visible ASCII and blanks, not too long."""
    return type(value) is str and 0 < len(value) <= most and value.isascii() and value.isprintable()
