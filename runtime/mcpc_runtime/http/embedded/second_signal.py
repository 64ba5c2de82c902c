"""Make the second signal end the process, whatever runs in it, by the operating system and without Python.

A Python signal handler cannot run while something holds the interpreter's lock, such as a regular expression or a
foreign function.  So the handler of the first signal is installed with SA_RESETHAND: when the signal arrives, the
system restores the default action, which ends the process when the signal arrives again.  The supervisor is another
process; it ends all that is left.
"""

from __future__ import annotations

import _ctypes
import sys
from collections.abc import Iterable
from typing import Any

from mcpc_runtime.transports.platforms import system, system_features

RESET_HANDLER, ON_STACK = 0x80000000, 0x08000000
LAYOUTS = {
    "linux x86_64": (136, RESET_HANDLER, ON_STACK),
    "linux aarch64": (136, RESET_HANDLER, ON_STACK),
    "linux riscv64": (136, RESET_HANDLER, ON_STACK),
    "darwin x86_64": (12, 4, 1),
    "darwin arm64": (12, 4, 1),
}
"""By system and processor: the offset of the flags in `struct sigaction`, SA_RESETHAND, and SA_ONSTACK."""
SIZE = 256
FLAGS_SIZE = 4


def end_at_second(numbers: Iterable[int]) -> bool:
    """Make these signals, whose handlers are installed, end the process when they arrive again.

    Return False where that is impossible: on a system that is not in the table, without `_ctypes`, and in the first
    process of a container, which the default action of a signal does not end.
    """
    if not any(row.startswith(f"{sys.platform} ") for row in LAYOUTS):
        return False
    layout = LAYOUTS.get(f"{sys.platform} {system.uname().machine}")
    if layout is None or system.getpid() == 1:
        return False
    try:
        actions = SignalActions()
    except (ImportError, OSError):
        return False
    return all(actions.set_reset_flag(number, *layout) for number in numbers)


class SignalActions:
    """The function `sigaction` of the C library; `_ctypes` alone costs a fifth of `ctypes`; ImportError without it."""

    def __init__(self) -> None:
        self._address = system_features.address_of("sigaction")
        byte = type("Byte", (_ctypes._SimpleCData,), {"_type_": "B"})
        self._action: Any = (byte * SIZE)()  # type: ignore[operator]

    def set_reset_flag(self, number: int, offset: int, reset: int, on_stack: int) -> bool:
        """Set SA_RESETHAND for one signal; False if the structure has another layout than the table."""
        if system_features.call(self._address, (number, None, self._action)) != 0:
            return False
        view = memoryview(self._action).cast("B")[offset : offset + FLAGS_SIZE]
        flags = int.from_bytes(view, sys.byteorder)
        if not flags & on_stack:
            return False
        view[:] = (flags | reset).to_bytes(FLAGS_SIZE, sys.byteorder)
        return system_features.call(self._address, (number, self._action, None)) == 0
