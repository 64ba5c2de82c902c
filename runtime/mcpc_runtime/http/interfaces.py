"""The interfaces that the settings name, for type checkers: this module is never imported when a server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from mcpc_runtime.http.principals import Authenticated, Denied, Principal
    from mcpc_runtime.http.replies import Client, Pairs
    from mcpc_runtime.protocol.effects import Activity, Ending


class TokenSource(Protocol):
    """A file of tokens that may change; both methods return the principals of tokens that are no longer valid."""

    def look(self) -> list[Principal]:
        """Read the file if it has changed."""
        ...

    def read(self) -> list[Principal]:
        """Read the file."""
        ...


class Authenticator(Protocol):
    """What decides on whose behalf a request is, by its headers alone.

    `address`: returns the address of a client, given the other end of the connection and the headers of a request.
    """

    address: Callable[[Client, Pairs], str]

    @property
    def watched(self) -> TokenSource | None:
        """The file of tokens to read again when it changes, None if there is none."""
        ...

    def check(self, headers: Pairs, path: str, client: Client) -> Authenticated | Awaitable[Authenticated]:
        """Return the principal of a request to a path, or its denial."""
        ...

    def permit(self, principal: Principal, method: str, name: str, path: str) -> Denied | None:
        """Return the denial of a request that the principal's token does not grant, None if it may go on."""
        ...

    def named(self) -> Iterable[tuple[str, str]]:
        """Yield each principal that may call a tool that is named, and the name."""
        ...

    def document(self, path: str) -> bytes | None:
        """Return the public document at a well-known path, None if there is none."""
        ...


class CallObserver(Protocol):
    """Receives an event for each call of a handler, and is closed at the end."""

    def began(self, call: Activity) -> None:
        """Note that a call began."""
        ...

    def ended(self, call: Activity, status: str, seconds: float, ending: Ending | None) -> None:
        """Note that a call ended."""
        ...

    def close(self) -> None:
        """Send what is still to be sent."""
        ...
