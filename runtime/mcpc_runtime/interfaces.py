"""The interfaces between the parts of a server, for type checkers: this module is never imported when one runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Effect, Publish
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.reactor import Reactor


class Lock(Protocol):
    """What one thread has at a time."""

    def acquire(self) -> bool:
        """Have it."""
        ...

    def release(self) -> None:
        """Give it back."""


class Driver(Protocol):
    """What drives a server, by one thread at a time: over a channel, or over HTTP.

    `effects`: what is to be done next; `shared`: whether other threads may take over; `dispatcher`: where calls run,
    made with the first of them.
    """

    image: Image
    effects: list[Effect]
    shared: bool
    dispatcher: Any

    @property
    def lock(self) -> Lock:
        """What the thread that serves holds."""
        ...

    @property
    def full(self) -> bool:
        """Whether the client should be told no more than it must."""
        ...

    @property
    def clients(self) -> Sequence[Session]:
        """The conversations that may wait for news."""
        ...

    def watch(self) -> Reactor:
        """Return the reactor."""
        ...

    def prepare(self) -> Any:
        """Return where calls run."""
        ...

    def ask(self, task: Callable[[], None]) -> None:
        """Have something done by the thread that serves."""

    def publish(self, event: Publish) -> None:
        """Tell every client that wants to know of a change."""

    def take_over(self) -> None:
        """Serve on in this thread."""
