"""The reactor's interface over a running asyncio loop, so that dispatcher, runners and supervisor serve here unchanged.

Everything happens in the loop's thread; after each callback the stage does what it left to be done.
"""

from __future__ import annotations

from asyncio import get_running_loop

from mcpc_runtime.errors import tell
from mcpc_runtime.reactor import READABLE, WRITABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable


class LoopReactor:
    """What `mcpc_runtime.reactor.Reactor` is for a server of one conversation.

    `work`: called after every callback.  A callback that fails is told, and the others go on.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._loop = get_running_loop()
        self._work = work
        self._watched: dict[int, int] = {}

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call `callback` when `descriptor` is ready or at its end."""
        before = self._watched.get(descriptor, 0)
        self._watched[descriptor] = events
        if events & READABLE:
            self._loop.add_reader(descriptor, self._call, callback)
        elif before & READABLE:
            self._loop.remove_reader(descriptor)
        if events & WRITABLE:
            self._loop.add_writer(descriptor, self._call, callback)
        elif before & WRITABLE:
            self._loop.remove_writer(descriptor)

    def forget(self, descriptor: int) -> None:
        """Stop watching; a descriptor nobody watches is passed over."""
        events = self._watched.pop(descriptor, 0)
        if self._loop.is_closed():
            return
        if events & READABLE:
            self._loop.remove_reader(descriptor)
        if events & WRITABLE:
            self._loop.remove_writer(descriptor)

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""
        self._loop.call_later(seconds, self._call, callback)

    def turn(self, lock: LockType | None = None) -> None:
        """Refuse: the loop turns by itself."""
        raise RuntimeError("the loop turns by itself")

    def expect(self) -> None:
        """Do nothing: how the loop waits is its own affair."""

    def wake(self) -> None:
        """Do nothing: whoever comes from another thread wakes the loop (`Stage.ask`)."""

    def _call(self, callback: Callable[[], None]) -> None:
        try:
            callback()
        except Exception as problem:  # noqa: BLE001 - one failure must not end what serves everybody
            tell(f"the server goes on after {type(problem).__name__}: {problem}")
        self._work()
