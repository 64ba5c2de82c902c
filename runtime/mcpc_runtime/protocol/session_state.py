"""The state of one client connection: its last settings, its running calls, and its subscriptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.protocol.accounts import Account
from mcpc_runtime.protocol.effects import Activity, Request
from mcpc_runtime.protocol.image import Image, ProtocolRevision
from mcpc_runtime.protocol.jsonrpc import Json


class SessionState:
    """The state of a session.

    `wire`, `log_level`, `capabilities` and `watched` (uris): the last settings of a client of the handshake era.
    `listening`: the subscriptions of the stateless era, by request id.  `asked`: open client requests, by their ids.
    `principal`: the owner of the requests, as far as the transport knows it.  `account`: counts stored bytes, if they
    are limited.  `allows`: whether the principal may see a tool; None for all.  `roots`: the client's roots, in the
    form of the code that requested them.  `unique_id`: a name for handlers that keep something for a session, made when
    the first one asks for it.  `is_tolerated`: the client introduced itself as one whose arguments are corrected.
    `conversation`: a name for the requests of one client, empty over pipes; None if each stands alone.
    """

    __slots__ = (
        "account",
        "allows",
        "asked",
        "capabilities",
        "conversation",
        "image",
        "is_tolerated",
        "listening",
        "log_level",
        "principal",
        "roots",
        "running",
        "unique_id",
        "watched",
        "wire",
    )

    def __init__(self, image: Image) -> None:
        self.image = image
        self.wire: ProtocolRevision | None = None
        self.log_level: str | None = None
        self.running: dict[str | int, Activity] = {}
        self.listening: dict[str | int, Request] = {}
        self.capabilities: dict[str, Json] = {}
        self.asked: dict[str | int, Any] = {}
        self.watched: dict[str, None] = {}
        self.principal = ""
        self.account: Account | None = None
        self.roots: object = None
        self.unique_id = ""
        self.conversation: str | None = None
        self.is_tolerated = False
        self.allows: Callable[[str], bool] | None = None

    def handshake_wire(self) -> ProtocolRevision:
        """Return the revision of messages that do not name a version."""
        return self.wire or self.image.revision(self.image.handshake_versions[-1])
