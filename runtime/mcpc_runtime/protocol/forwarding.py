"""Requests of extensions that only the program of a server knows: they are forwarded to it as they are.

What the core protocol defines is never forwarded: the server answers that itself.  Where the operator or a client's
token narrows the tools nothing is forwarded, as it is not known what an extension calls.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Call, SessionState
from mcpc_runtime.protocol.requests import Request

CORE = frozenset({
    "completion", "elicitation", "initialize", "logging", "notifications", "ping", "prompts", "resources", "roots",
    "sampling", "server", "subscriptions", "tools",
})  # fmt: skip
"""The first words of the methods that the core protocol defines."""
MAX_METHOD = 256


def is_forwarded(session: SessionState, method: str) -> bool:
    """Tell whether the program answers a method that this server does not know."""
    image, is_extension = session.image, method.partition("/")[0] not in CORE and len(method) <= MAX_METHOD
    return is_extension and "forwards" in image.run_time and image.choice is None and session.allows is None


def forward_request(session: SessionState, request: Request) -> Call:
    """Return the call in which the program answers a request."""
    params = {name: value for name, value in request.params.items() if name != "_meta"}
    return Call(request, session.image.run_time_definition(request.method), params)
