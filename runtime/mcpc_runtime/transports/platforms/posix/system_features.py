"""Optional features of the system, its limits, and the C library; callers use a slower fallback where one is missing.

`has` is called where a feature is used, never before: a probe costs some microseconds, once.  The variable
MCPC_WITHOUT (`proc,memfd`) disables features, so that every fallback can be tested on a system that has them all.
"""

from __future__ import annotations

import _ctypes
import _socket
import os
import posix
import resource
import select
import signal
import sys
from collections.abc import Callable
from errno import EMFILE, ENFILE, ENOMEM
from typing import Any

__all__ = ["available_bytes", "raise_after", "resident_bytes", "stop_timer"]


WITHOUT = b"MCPC_WITHOUT"
MEMORY_FILE_SIZE = 64 << 20
"""The longest text that is passed to a process: a message may be 18 MiB, and takes more when Python encodes it."""
NO_ROOM = (EMFILE, ENFILE, ENOMEM)
"""Errors of a probe that do not tell whether the feature exists."""
SLOW_CLOSERANGE = ("darwin",)
"""Systems without `close_range` and `closefrom`."""
POLL_WITHOUT_DEVICES = ("darwin",)
UNSAFE_FORK = ("darwin",)


def proc() -> bool:
    """Tell whether processes are visible in /proc."""
    return posix.access("/proc/self/stat", posix.R_OK)


def memfd() -> bool:
    """Tell whether files in memory can be made, long enough; seccomp or RLIMIT_FSIZE may forbid it."""
    if sys.platform == "linux" and hasattr(posix, "memfd_create"):
        file = posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
        try:
            posix.ftruncate(file, MEMORY_FILE_SIZE)  # takes no memory; RLIMIT_FSIZE holds for it
        finally:
            posix.close(file)
        return True
    return False


def pidfd() -> bool:
    """Tell whether a descriptor can refer to a process."""
    if not hasattr(posix, "pidfd_open"):
        return False
    posix.close(posix.pidfd_open(posix.getpid()))
    return True


def subreaper() -> bool:
    """Tell whether a process can adopt its orphaned descendants; that takes `prctl` of the C library."""
    try:
        return bool(address_of("prctl"))
    except ImportError:
        posix.close(posix.open("/dev/null", posix.O_RDONLY))  # raises OSError if only descriptors were lacking
        return False


def seqpacket() -> bool:
    """Tell whether Unix sockets can preserve message boundaries."""
    try:
        ends = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    except (AttributeError, ImportError):
        return False
    for end in ends:
        end.close()
    return True


def closerange() -> bool:
    """Tell whether one system call closes all descriptors from a number on."""
    return not sys.platform.startswith(SLOW_CLOSERANGE)


def hangup() -> bool:
    """Tell whether `poll` reports a closed peer even if no events are requested."""
    ends = posix.pipe()
    try:
        try:
            waiting = select.poll()
            waiting.register(ends[0], 0)
        finally:
            posix.close(ends[1])
        return bool(waiting.poll(0))
    finally:
        posix.close(ends[0])


def devicepoll() -> bool:
    """Tell whether `poll` supports terminals and other devices."""
    return not sys.platform.startswith(POLL_WITHOUT_DEVICES)


def fork() -> bool:
    """Tell whether a forked process may continue after any library was loaded.

    Frameworks of macOS abort a child that uses them, and a handler in this process may have loaded one.
    """
    return not sys.platform.startswith(UNSAFE_FORK)


PROBES: dict[str, Callable[[], bool]] = {
    "proc": proc,
    "memfd": memfd,
    "pidfd": pidfd,
    "subreaper": subreaper,
    "seqpacket": seqpacket,
    "closerange": closerange,
    "hangup": hangup,
    "devicepoll": devicepoll,
    "fork": fork,
}
probed: dict[str, bool] = {}
"""Results of earlier probes."""


def has(name: str) -> bool:
    """Tell whether a feature exists and is not disabled."""
    if name.encode() in posix.environ.get(WITHOUT, b"").split(b","):
        return False
    result = probed.get(name)
    if result is None:
        try:
            result = probed[name] = PROBES[name]()
        except OSError as problem:
            if problem.errno in NO_ROOM:
                return True  # unknown: the caller meets the same error, and tries again later
            result = probed[name] = False
    return result


def address_of(name: str) -> int:
    """Return the address of a function; raise ImportError without `_ctypes`, OSError if there is no such function."""
    return _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]


def call(address: int, arguments: tuple[object, ...]) -> int:
    """Call a function that returns an integer."""
    return int(_ctypes.call_function(address, arguments))


def buffer(size: int) -> Any:
    """Return memory of this size, all zeros, that a function may write to; `bytes` returns its contents."""
    return (number_type("B") * size)()


def unsigned_64(value: int) -> Any:
    """Return an argument of 64 bits; a plain number is an `int`."""
    return number_type("Q")(value)


def number_type(code: str) -> Any:
    """Return the C type of numbers with this code of the module `struct`."""
    # What `ctypes` would provide; importing it costs several times what `_ctypes` does.
    if code not in number_types:

        class Number(_ctypes._SimpleCData):  # type: ignore[type-arg]  # not generic at run time
            _type_ = code

        number_types[code] = Number
    return number_types[code]


number_types: dict[str, object] = {}


def most_descriptors() -> int:
    """Return how many descriptors this process may open, 0 without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 0 if soft == resource.RLIM_INFINITY else soft


RESIDENT = 1
"""The field of `statm` with the resident pages."""

MEMORY = "/proc/meminfo"
AVAILABLE = b"MemAvailable:"
LIMIT, USED = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"
"""Files of the control group of a container; a group without a limit has a word in the first."""


def available_bytes() -> int | None:
    """Return the bytes of memory that more processes can have; None if the system does not tell."""
    limits = []
    try:
        with open(MEMORY, "rb") as file:
            limits += [int(line.split()[1]) << 10 for line in file if line.startswith(AVAILABLE)]
    except (OSError, ValueError, IndexError):
        pass
    try:
        with open(LIMIT, "rb") as limit, open(USED, "rb") as used:
            # A limit that is the word "max" raises ValueError, and then only the machine's memory counts.
            limits.append(int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        pass
    return min(limits, default=None)


def resident_bytes(pid: int) -> int:
    """Return the bytes of memory that a process has; 0 if the system does not tell, or there is no such process."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[RESIDENT]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def raise_after(seconds: int, problem: type[BaseException]) -> None:
    """Raise an exception on the main thread after so many seconds."""

    def end(*_: object) -> None:
        raise problem

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)


def stop_timer() -> None:
    """Remove the time limit."""
    signal.alarm(0)
