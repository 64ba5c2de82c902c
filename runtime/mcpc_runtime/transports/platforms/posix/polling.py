"""Wait for descriptors by `poll`, or by `select` for terminals where `poll` refuses devices (macOS, poll(2), BUGS)."""

from __future__ import annotations

import posix
from select import POLLIN, POLLOUT, poll, select

from mcpc_runtime.transports.platforms.posix import system_features

CHARACTER_DEVICE, FILE_TYPE = 0o020000, 0o170000


class DevicePoll:
    """A poll object that accepts devices.  While it has one, all descriptors are below FD_SETSIZE (1024)."""

    __slots__ = ("_devices", "_others", "_poll")

    def __init__(self) -> None:
        self._poll = poll()
        self._devices: dict[int, int] = {}
        self._others: dict[int, int] = {}

    def register(self, descriptor: int, events: int) -> None:
        """Wait for these events, in place of earlier ones."""
        if posix.fstat(descriptor).st_mode & FILE_TYPE == CHARACTER_DEVICE:
            self._devices[descriptor] = events
        else:
            self._poll.register(descriptor, events)
            self._others[descriptor] = events

    def unregister(self, descriptor: int) -> None:
        """Stop waiting for a descriptor."""
        if self._devices.pop(descriptor, None) is None:
            del self._others[descriptor]
            self._poll.unregister(descriptor)

    def poll(self, timeout: int | None = None) -> list[tuple[int, int]]:
        """Wait so many milliseconds; return descriptors with their events."""
        if not self._devices:
            return self._poll.poll(timeout)
        wanted = {**self._others, **self._devices}
        readers = [number for number, events in wanted.items() if events & POLLIN]
        writers = [number for number, events in wanted.items() if events & POLLOUT]
        readable, writable, _ = select(readers, writers, (), None if timeout is None else timeout / 1000)
        ready = dict.fromkeys(readable, POLLIN)
        for number in writable:
            ready[number] = ready.get(number, 0) | POLLOUT
        return list(ready.items())


def new_poll() -> poll | DevicePoll:
    """Return a poll object that accepts every descriptor."""
    return poll() if system_features.has("devicepoll") else DevicePoll()
