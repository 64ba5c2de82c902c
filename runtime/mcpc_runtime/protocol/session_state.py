"""The state of one client's conversation: what it said last, what runs for it, and what it listens to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.accounts import Account
    from mcpc_runtime.protocol.effects import Call, Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Image, Wire


class SessionState:
    """What is known of a conversation.

    `wire`, `log_level`, `capabilities` and `watched` (uris) are what a client of the handshake era said last;
    `listening` are the subscriptions of the stateless one by their ids; `asked` are our own requests to the client.
    `principal`: on whose behalf, as far as the transport knows; `account`: what notes the
    bytes that are kept of it, if somebody counts them; `allows`: which tools that one may see, all if None.
    `roots`: what the client has answered when it was asked for its roots, as whoever asked understood it.
    """

    __slots__ = (
        "account",
        "allows",
        "asked",
        "capabilities",
        "image",
        "listening",
        "log_level",
        "principal",
        "roots",
        "running",
        "watched",
        "wire",
    )

    def __init__(self, image: Image) -> None:
        self.image = image
        self.wire: Wire | None = None
        self.log_level: str | None = None
        self.running: dict[str | int, Call] = {}
        self.listening: dict[str | int, Request] = {}
        self.capabilities: dict[str, Json] = {}
        self.asked: dict[str | int, Any] = {}
        self.watched: dict[str, None] = {}
        self.principal = ""
        self.account: Account | None = None
        self.roots: Any = None
        self.allows: Callable[[str], bool] | None = None

    def handshake_wire(self) -> Wire:
        """Return the wire of messages that do not name a version."""
        return self.wire or self.image.wire(self.image.handshake_versions[-1])
