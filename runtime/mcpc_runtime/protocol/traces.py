"""The trace of a request (W3C Trace Context and Baggage) as environment variables for the programs of a handler.

Values without the form of the specification are ignored: they could be meant to attack another parser.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Call

MAX_STATE_LENGTH, MAX_BAGGAGE_LENGTH = 512, 8192
HEXADECIMAL = frozenset("0123456789abcdef")


def trace_variables(call: Call) -> dict[bytes, bytes]:
    """Return the environment variables of a call's trace; none if its request has no trace."""
    meta = call.request.params.get("_meta")
    if type(meta) is not dict:
        return {}
    variables: dict[bytes, bytes] = {}
    parent, state, baggage = meta.get("traceparent"), meta.get("tracestate"), meta.get("baggage")
    if type(parent) is str and is_traceparent(parent):
        variables[b"TRACEPARENT"] = parent.encode("ascii")
        if type(state) is str and is_header_list(state, MAX_STATE_LENGTH):
            variables[b"TRACESTATE"] = state.encode("ascii")
    if type(baggage) is str and is_header_list(baggage, MAX_BAGGAGE_LENGTH):
        variables[b"BAGGAGE"] = baggage.encode("ascii")
    return variables


def is_traceparent(value: str) -> bool:
    """Tell whether this is a `traceparent`: version, trace, span, flags; neither id all zeros, and no version `ff`."""
    parts = value.split("-")
    if len(value) > 128 or len(parts) < 4 or [len(part) for part in parts[:4]] != [2, 32, 16, 2]:
        return False
    if not HEXADECIMAL.issuperset("".join(parts[:4])) or not value.isascii() or not value.isprintable():
        return False
    exact = len(parts) == 4 or parts[0] != "00"
    return exact and parts[0] != "ff" and bool(int(parts[1], 16)) and bool(int(parts[2], 16))


def is_header_list(value: str, max_length: int) -> bool:
    """Tell whether this can be a list of members in a header: visible ASCII and spaces, not too long."""
    return 0 < len(value) <= max_length and value.isascii() and value.isprintable()
