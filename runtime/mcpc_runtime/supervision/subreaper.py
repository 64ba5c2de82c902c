"""Becoming the parent of every orphan among one's descendants, daemons included (`prctl`, Linux only)."""

from __future__ import annotations

import posix
from errno import EMFILE

from mcpc_runtime import ways
from mcpc_runtime.protocol.rows import resolve

SET_CHILD_SUBREAPER = 36


def become() -> bool:
    """Make this process the parent of its orphaned descendants; False where there is no way to.

    `_ctypes` alone costs a fifth of `ctypes`.  Raise OSError if there is no room to load it.
    """
    if not ways.has("subreaper"):
        return False
    try:
        prctl = resolve("_ctypes:dlsym")(resolve("_ctypes:dlopen")(None, 0), "prctl")
    except ImportError:
        raise OSError(EMFILE, posix.strerror(EMFILE)) from None
    return bool(resolve("_ctypes:call_function")(prctl, (SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0)
