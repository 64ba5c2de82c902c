"""Pipes between this process and another, or between two threads."""

from __future__ import annotations

import _socket
import posix

RECALL_LIMIT = 1 << 21
"""Bytes: more than such a pipe contains, so that one read has all of it."""


def incoming() -> tuple[int, int]:
    """Return a pipe to read from: our end, which does not block, and the end to write to.

    Raise OSError, with nothing left open, if there is no room.
    """
    ours, theirs = posix.pipe()
    unblock(ours, theirs)
    return ours, theirs


def outgoing() -> tuple[int, int]:
    """Return a pipe to write to: our end, which does not block, and the end to read from.

    Raise OSError, with nothing left open, if there is no room.
    """
    theirs, ours = posix.pipe()
    unblock(ours, theirs)
    return ours, theirs


def recallable() -> tuple[int, int]:
    """Return a pipe as `outgoing` does, from which data that was not read can be taken back; it is a socket."""
    ours, theirs = (end.detach() for end in _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM))
    unblock(ours, theirs)
    return ours, theirs


def recalled(theirs: int) -> bytes:
    """Remove and return what is in a recallable pipe, by the end to read from, whether or not another reader waits."""
    end = _socket.socket(fileno=theirs)
    try:
        return end.recv(RECALL_LIMIT, _socket.MSG_DONTWAIT)
    except BlockingIOError:
        return b""
    finally:
        end.detach()


def wake_pipe() -> tuple[int, int]:
    """Return a pipe by which a thread wakes another: the end to read from, and the end to write to; neither blocks."""
    reading, writing = incoming()
    unblock(writing, reading)
    return reading, writing


def unblock(descriptor: int, other: int) -> None:
    """Make one end of a pipe non-blocking; close both ends if that fails."""
    try:
        posix.set_blocking(descriptor, False)
    except OSError:
        close(descriptor)
        close(other)
        raise


def close(descriptor: int) -> None:
    """Close a descriptor; an error is ignored."""
    try:
        posix.close(descriptor)
    except OSError:
        return
