"""What a process asks the system about itself (`prctl`, Linux only): to be given orphans, and not to be looked at."""

from __future__ import annotations

import posix
from errno import EMFILE

from mcpc_runtime.platforms import c_library
from mcpc_runtime.platforms.posix import system_features as ways

SET_CHILD_SUBREAPER, SET_DUMPABLE = 36, 4


def become() -> bool:
    """Make this process the parent of its orphaned descendants, daemons included; False where there is no way to.

    `_ctypes` alone costs a fifth of `ctypes`.  Raise OSError if there is no room to load it.
    """
    return control(SET_CHILD_SUBREAPER, 1)


def conceal() -> bool:
    """Let nobody look at this process's memory, variables and descriptors, but who may look at every process's.

    It holds for what this process forks, and not for the programs that it starts.
    """
    return control(SET_DUMPABLE, 0)


def control(option: int, value: int) -> bool:
    """Ask the system something about this process; False where there is no way to, or it is refused."""
    if not ways.has("subreaper"):
        return False
    try:
        prctl = c_library.address_of("prctl")
    except ImportError:
        raise OSError(EMFILE, posix.strerror(EMFILE)) from None
    return c_library.call(prctl, (option, value, 0, 0, 0)) == 0
