"""Detect optional features of the system; callers use a slower fallback where one is missing or disabled.

`has` is called where a feature is used, never before: a probe costs some microseconds, once.  The variable
MCPC_WITHOUT (`proc,memfd`) disables features, so that every fallback can be tested on a system that has them all.
"""

from __future__ import annotations

import _socket
import posix
import select
import sys
from collections.abc import Callable
from errno import EMFILE, ENFILE, ENOMEM

from mcpc_runtime.transports.platforms.posix import c_library

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
        return bool(c_library.address_of("prctl"))
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
