"""Optional features of POSIX systems: there is none of them here, but the end of a watched pipe is always reported."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import threading
from collections.abc import Callable
from errno import EMFILE, ENFILE, ENOMEM

__all__ = [
    "NO_ROOM",
    "PROBES",
    "WITHOUT",
    "address_of",
    "available_bytes",
    "call",
    "has",
    "most_descriptors",
    "raise_after",
    "resident_bytes",
    "stop_timer",
]


WITHOUT = b"MCPC_WITHOUT"
NO_ROOM = (EMFILE, ENFILE, ENOMEM)
PROBES: dict[str, Callable[[], bool]] = {}
PRESENT = frozenset({"hangup"})


def has(name: str) -> bool:
    """Tell whether a feature exists."""
    return name in PRESENT


def address_of(name: str) -> int:
    """Raise OSError: there is no such function."""
    raise OSError(f"there is no {name} on this system")


def call(address: int, arguments: tuple[object, ...]) -> int:
    """Raise OSError: there is no address to call."""
    raise OSError(f"there is no function at {address:#x}")


SOCKETS = 1 << 13


def most_descriptors() -> int:
    """Return how many sockets and descriptors this process should open."""
    return SOCKETS


def available_bytes() -> int | None:
    """Return None: it is not asked for."""
    return None


def resident_bytes(pid: int) -> int:
    """Return 0: the system does not tell."""
    return 0


timers: list[threading.Timer] = []


def raise_after(seconds: int, problem: type[BaseException]) -> None:
    """Raise an exception on this thread after so many seconds."""
    thread = ctypes.c_ulong(threading.get_ident())
    # Unlike a signal, it does not interrupt a call that blocks: it is raised when the thread runs Python code again.
    timer = threading.Timer(seconds, ctypes.pythonapi.PyThreadState_SetAsyncExc, (thread, ctypes.py_object(problem)))
    timer.daemon = True
    timers.append(timer)
    timer.start()


def stop_timer() -> None:
    """Remove the time limit."""
    while timers:
        timers.pop().cancel()
