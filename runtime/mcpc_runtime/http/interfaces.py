"""The interfaces between the parts of the HTTP transport, for type checkers; never imported when a server runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from mcpc_runtime.http.principals import Authenticated, Denied, Principal
from mcpc_runtime.http.replies import Client, Message, Pairs, Receive, Send
from mcpc_runtime.protocol.effects import Activity, Ending


class TokenSource(Protocol):
    """A file of tokens that may change; its methods return the principals of tokens that are no longer valid."""

    def read_changes(self) -> list[Principal]:
        """Read the file if it has changed."""
        ...

    def read(self) -> list[Principal]:
        """Read the file."""
        ...


class Authenticator(Protocol):
    """Authenticates requests by their headers alone.

    `address`: returns the address of a client from the other end of the connection and the headers of a request.
    """

    address: Callable[[Client, Pairs], str]

    @property
    def watched(self) -> TokenSource | None:
        """The token file, which is read again when it changes; None if there is none."""
        ...

    def check(self, headers: Pairs, path: str, client: Client) -> Authenticated | Awaitable[Authenticated]:
        """Return the principal of a request to a path, or its denial."""
        ...

    def permit(self, principal: Principal, method: str, name: str, path: str) -> Denied | None:
        """Return the denial of a request that the principal's token does not grant, None if it is granted."""
        ...

    def named_tools(self) -> Iterable[tuple[str, str]]:
        """Yield each principal whose token names tools, with each name."""
        ...

    def document(self, path: str) -> bytes | None:
        """Return the public document at a well-known path, None if there is none."""
        ...


class ServedApplication(Protocol):
    """The application, as the embedded server uses it."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all endpoints, once it has begun."""
        ...

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or handle the lifespan of the server."""

    def reload(self) -> None:
        """Read the token file again."""

    def stopping(self) -> str:
        """Return the log line for the beginning of the stop."""
        ...

    async def shutdown(self) -> None:
        """End the streams and the calls."""


class CallObserver(Protocol):
    """Receives an event for each call of a handler, and is closed at the end."""

    def began(self, call: Activity) -> None:
        """Note that a call began."""
        ...

    def ended(self, call: Activity, status: str, seconds: float, ending: Ending | None) -> None:
        """Note that a call ended."""
        ...

    def close(self) -> None:
        """Send what is buffered."""
        ...
