"""A timer: Windows has no alarm, so one thread raises an exception on another.

The exception is raised when the other thread next runs Python code; a call that waits in C is not ended by it.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import threading

__all__ = ["raise_after", "stop_timer"]

timers: list[threading.Timer] = []


def raise_after(seconds: int, problem: type[BaseException]) -> None:
    """Raise an exception on this thread after so many seconds."""
    thread = ctypes.c_ulong(threading.get_ident())
    timer = threading.Timer(seconds, ctypes.pythonapi.PyThreadState_SetAsyncExc, (thread, ctypes.py_object(problem)))
    timer.daemon = True
    timers.append(timer)
    timer.start()


def stop_timer() -> None:
    """Remove the time limit."""
    while timers:
        timers.pop().cancel()
