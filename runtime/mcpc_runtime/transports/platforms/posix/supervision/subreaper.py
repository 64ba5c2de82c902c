"""Settings of this process by `prctl` (Linux only): adopt orphaned descendants, and hide its memory."""

from __future__ import annotations

import posix
from errno import EMFILE

from mcpc_runtime.transports.platforms.posix import system_features

SET_CHILD_SUBREAPER, SET_DUMPABLE = 36, 4


def become_subreaper() -> bool:
    """Make this process adopt its orphaned descendants, daemons included; False where that is not supported.

    `_ctypes` alone costs a fifth of `ctypes`.  Raise OSError if there is no room to load it.
    """
    return call_prctl(SET_CHILD_SUBREAPER, 1)


def make_undumpable() -> bool:
    """Hide this process's memory, variables and descriptors from other processes without special privileges.

    Forked children inherit this; programs that they execute do not.
    """
    return call_prctl(SET_DUMPABLE, 0)


def call_prctl(option: int, value: int) -> bool:
    """Call `prctl` for this process; False where it is missing or refuses."""
    if not system_features.has("subreaper"):
        return False
    try:
        prctl = system_features.address_of("prctl")
    except ImportError:
        raise OSError(EMFILE, posix.strerror(EMFILE)) from None
    return system_features.call(prctl, (option, value, 0, 0, 0)) == 0
