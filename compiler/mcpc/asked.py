"""A process of the build that runs a project's code to be told of it: what it says on a descriptor, and how it ended.

It has a time and a size to say it in; afterwards nothing is left of it, nor of what it started.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 20
"""How long a file may take until it is imported."""
GRACE_SECONDS = 5
"""How long a process may take besides: to begin, and to end."""
LIMIT = 64 << 20
LATE = f"it was not imported in {SECONDS} seconds"


def gather(descriptor: int, seconds: float, is_whole: Callable[[bytearray], bool]) -> tuple[bytes, str]:
    """Return what comes until the process has said all, and why it was not waited for any longer."""
    deadline = time.monotonic() + seconds
    data = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while selector.select(max(deadline - time.monotonic(), 0)):
            chunk = os.read(descriptor, 1 << 20)
            data += chunk
            if len(data) > LIMIT:
                return bytes(data), f"what it defines takes more than {LIMIT >> 20} MiB"
            if not chunk or is_whole(data):
                return bytes(data), ""
    return bytes(data), LATE


def ended(process: subprocess.Popen[bytes], seconds: float) -> str:
    """End the process and all it started; return how it ended if it did so by itself in so many seconds."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    status = process.returncode
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if status is None:
        return "it took the process's descriptors away"
    return f"it ended the process with status {status}" if status >= 0 else f"it ended the process by signal {-status}"
