"""The pipes with which a process was started, as handles and no longer as descriptors of the C runtime.

The C runtime holds a lock of a descriptor while a thread reads from it, so a handler that closed all descriptors would
wait for that thread without end.  What is a handle alone, it cannot close.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import nt
from msvcrt import get_osfhandle

from mcpc_runtime.transports.platforms.windows import system

__all__ = ["adopt"]


class InheritedPipe:
    """An end whose reads and writes wait until they have ended."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def read(self, size: int) -> bytes:
        """Wait for data, and return it; b"" at the end."""
        try:
            operation, _ = _winapi.ReadFile(self._handle, size, overlapped=True)
            operation.GetOverlappedResult(True)
        except BrokenPipeError:
            return b""
        return bytes(operation.getbuffer() or b"")

    def write(self, data: memoryview) -> int:
        """Write data; raise BrokenPipeError if the other end is closed."""
        written, _ = _winapi.WriteFile(self._handle, data)
        return written

    def close(self) -> None:
        """Close the end."""
        _winapi.CloseHandle(self._handle)


def adopt(descriptor: int) -> int:
    """Return the number by which this process uses a descriptor that it was started with, and its children are not."""
    own = _winapi.GetCurrentProcess()
    handle = _winapi.DuplicateHandle(own, get_osfhandle(descriptor), own, 0, False, _winapi.DUPLICATE_SAME_ACCESS)
    nt.close(descriptor)
    return system.add_end(InheritedPipe(handle))
