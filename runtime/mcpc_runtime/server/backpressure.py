"""Waits for a client that does not read its answers.

The rest is sent when the client reads again; while much output waits, no input is read.  If a client that has closed
its end also reads nothing for some seconds, the server ends.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.interfaces import ClientChannel
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE, Reactor, watch_end
from mcpc_runtime.transports.platforms.system_features import has

PATIENCE_SECONDS = 4.0
"""How long a client that closed its end may read none of its answers."""


class Backpressure:
    """Waits for the client of one channel.  `read` reads its input; `give_up` ends the server."""

    __slots__ = ("_channel", "_give_up", "_has_hung_up", "_reactor", "_read")

    def __init__(
        self, reactor: Reactor, channel: ClientChannel, read: Callable[[], None], give_up: Callable[[], None]
    ) -> None:
        self._reactor = reactor
        self._channel = channel
        self._read = read
        self._give_up = give_up
        self._has_hung_up = False

    def wait(self) -> None:
        """Send the rest when the client reads, and read no input while much output waits."""
        channel, reactor = self._channel, self._reactor
        if not channel.ended:
            if not channel.full:
                reactor.watch(channel.descriptor, READABLE, self._read)
            elif self._has_hung_up:
                reactor.forget(channel.descriptor)  # its hangup would be reported again and again
            elif has("hangup"):
                # `poll` reports a hangup whatever is asked for, so nothing is asked for: input is not to be read yet.
                reactor.watch(channel.descriptor, 0, self._take_hangup)
            else:
                watch_end(reactor, channel.descriptor, lambda: channel.full, self._take_hangup)
        reactor.watch(channel.output, WRITABLE, self._resume)

    def _resume(self) -> None:
        """Let the driver send; read input again once the client reads."""
        self._reactor.forget(self._channel.output)
        self._has_hung_up = False
        if not self._channel.ended:
            self._reactor.watch(self._channel.descriptor, READABLE, self._read)

    def _take_hangup(self) -> None:
        """Note that the client closed its end; input it wrote before is read once it reads answers."""
        self._has_hung_up = True
        self._reactor.forget(self._channel.descriptor)
        self._check_later(self._channel.bytes_written)

    def _check_later(self, written: int) -> None:
        """Give up if the client, which sends no more requests, reads nothing for some seconds."""

        def check() -> None:
            # As many bytes as before: it has read nothing meanwhile.
            if self._channel.unsent and self._channel.bytes_written == written:
                self._give_up()
            elif self._channel.full:
                self._check_later(self._channel.bytes_written)

        self._reactor.after(PATIENCE_SECONDS, check)
