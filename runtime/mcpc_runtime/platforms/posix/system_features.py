"""Which facilities of the system a server uses: what is not there, or is switched off, has a slower way.

`has` is asked where a facility is used, never before: a probe costs some microseconds, once.  The variable
MCPC_WITHOUT (`proc,memfd`) switches ways off, so that every slower one can be tried where all are there.
"""

from __future__ import annotations

import posix
import sys
from errno import EMFILE, ENFILE, ENOMEM

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    import select
    from collections.abc import Callable

    from mcpc_runtime.platforms import c_library
else:
    c_library = lazy("mcpc_runtime.platforms.c_library")
    _socket = lazy("_socket")
    select = lazy("select")

WITHOUT = b"MCPC_WITHOUT"
MEMORY_FILE_SIZE = 64 << 20
"""No text that is handed to a process is longer: a message may be 18 MiB, and takes some more as Python writes it."""
NO_ROOM = (EMFILE, ENFILE, ENOMEM)
"""What a probe may meet that says nothing about the facility."""
SLOW_CLOSERANGE = ("darwin",)
"""Systems without `close_range` and `closefrom`."""


def proc() -> bool:
    """Processes show themselves as files."""
    return posix.access("/proc/self/stat", posix.R_OK)


def memfd() -> bool:
    """A file can be in memory alone, and long enough; a filter of system calls or a limit of files may forbid it."""
    if not hasattr(posix, "memfd_create"):
        return False
    file = posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
    try:
        posix.ftruncate(file, MEMORY_FILE_SIZE)  # takes no memory; RLIMIT_FSIZE holds for it
    finally:
        posix.close(file)
    return True


def pidfd() -> bool:
    """A descriptor can stand for a process."""
    if not hasattr(posix, "pidfd_open"):
        return False
    posix.close(posix.pidfd_open(posix.getpid()))
    return True


def subreaper() -> bool:
    """A process can be given the orphans among its descendants; it takes a call that only the C library knows."""
    try:
        return bool(c_library.address_of("prctl"))
    except ImportError:
        posix.close(posix.open("/dev/null", posix.O_RDONLY))  # is it not there, or was there no room to load it?
        return False


def seqpacket() -> bool:
    """A socket between processes can keep messages apart."""
    try:
        ends = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    except (AttributeError, ImportError):
        return False
    for end in ends:
        end.close()
    return True


def closerange() -> bool:
    """All descriptors from a number on are closed by one system call, and not by one for each there might be."""
    return not sys.platform.startswith(SLOW_CLOSERANGE)


def hangup() -> bool:
    """The end of a descriptor is told even to those who ask `poll` for nothing else."""
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


PROBES: dict[str, Callable[[], bool]] = {
    "proc": proc,
    "memfd": memfd,
    "pidfd": pidfd,
    "subreaper": subreaper,
    "seqpacket": seqpacket,
    "closerange": closerange,
    "hangup": hangup,
}
known: dict[str, bool] = {}
"""What was found before."""


def has(name: str) -> bool:
    """Tell whether a facility is there, and not switched off."""
    if name.encode() in posix.environ.get(WITHOUT, b"").split(b","):
        return False
    found = known.get(name)
    if found is None:
        try:
            found = known[name] = PROBES[name]()
        except OSError as problem:
            if problem.errno in NO_ROOM:
                return True  # perhaps; whoever uses it meets the same, and is told to try again
            found = known[name] = False
    return found
