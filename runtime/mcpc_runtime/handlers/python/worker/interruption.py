"""Raise an exception in the thread of one call, and in no other's.

A call's region is a list with one item while the handler's code runs.  Whoever takes the item decides: the call itself
when its handler is done, or the one who interrupts it; then the call waits until the exception has been set, and takes
it away again if it has not been raised meanwhile.
"""

from __future__ import annotations

from _thread import get_ident
from time import sleep

MOMENT = 0.0002


class InterruptibleSection:
    """The part of a call in which its handler runs."""

    __slots__ = ("_inside", "_thread", "_was_set")

    def __init__(self) -> None:
        self._inside: list[None] = []
        self._was_set = False
        self._thread = 0

    def enter(self) -> None:
        """Be interruptible from now on, in this thread."""
        self._thread = get_ident()
        self._inside.append(None)

    def leave(self) -> None:
        """Be interruptible no more: an exception that was on its way is raised here, or nowhere; so call it again."""
        if not self.pause():
            while not self._was_set:
                sleep(MOMENT)
            raise_in(self._thread, None)

    @property
    def mine(self) -> bool:
        """Whether this is the thread that is interruptible."""
        return self._thread == get_ident()

    @property
    def open(self) -> bool:
        """Whether it can be interrupted."""
        return bool(self._inside)

    def pause(self) -> bool:
        """Be not interruptible until `resume`; False if an exception is on its way."""
        try:
            self._inside.pop()
        except IndexError:
            return False
        return True

    def resume(self) -> None:
        """Be interruptible again."""
        self._inside.append(None)

    def interrupt(self, kind: type[BaseException]) -> bool:
        """Raise an exception there; False if the handler is not running."""
        if not self.pause():
            return False
        try:
            raise_in(self._thread, kind)
        finally:
            self._was_set = True
        return True


def raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Have a thread raise an exception as soon as it runs Python; None takes back one that it has not raised."""
    try:
        ctypes = __import__("ctypes")
    except ImportError:  # an interpreter without it: the handler can still ask its context
        return
    raised = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
