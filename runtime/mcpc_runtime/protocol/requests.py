"""Requests of a client, and the effect that answers one: all that a start needs of the effects.

Creating a class costs a start as much as reading 2,000 bytes of code, so the other effects are in `effects`.
"""

from __future__ import annotations

from typing import Any, TypedDict

from mcpc_runtime.protocol.image import ProtocolRevision, StoredPage
from mcpc_runtime.protocol.jsonrpc import Json


class Batch(TypedDict):
    """A JSON-RPC batch: its open calls, and its replies, which are sent together when the last one is made."""

    open: int
    replies: list[bytes]


class Request:
    """One request of a client: id, method, parameters, protocol revision (`wire`), session and batch.

    `session`: a `Session`.  `origin`: the transport's own data about it, a `RequestOrigin` or None.
    """

    __slots__ = ("batch", "identifier", "method", "origin", "params", "session", "wire")

    def __init__(
        self, session: Any, identifier: str | int, method: str, params: dict[str, Json], wire: ProtocolRevision
    ) -> None:
        self.session = session
        self.identifier = identifier
        self.method = method
        self.params = params
        self.wire = wire
        self.batch: Batch | None = None
        self.origin: Any = None


class SendResponse:
    """Write a response line: the one answer to `request`, or to an unreadable message (None).

    `code`: the error's code, 0 for a result.
    """

    __slots__ = ("code", "data", "request")

    def __init__(self, data: bytes, request: Request | None = None, code: int = 0) -> None:
        self.data = data
        self.request = request
        self.code = code


class SendStored(SendResponse):
    """Write a response line that is read while it is written; `page`: the line."""

    __slots__ = ("page",)

    def __init__(self, page: StoredPage, request: Request) -> None:
        super().__init__(b"", request)
        self.page = page
