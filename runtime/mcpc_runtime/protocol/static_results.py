"""Static results of tools and prompts: returned at once, in the richest form that the request's revision supports."""

from __future__ import annotations

from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.requests import Request

KEYS = {"prompts/get": b"messages", "tools/call": b"content"}


def static_result(request: Request, definition: Definition) -> bytes:
    """Return the static result of a definition."""
    wire = request.wire
    kinds, offset, length = definition.handler[1]
    if kinds and not all(kind in wire.content for kind in kinds):
        _, offset, length = definition.handler[-1]
    return b'{"%b":%b%b}' % (KEYS[request.method], request.session.image.read(offset, length), wire.tail)
