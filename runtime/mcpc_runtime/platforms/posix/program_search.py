"""Prefer a newer Bash to the one of macOS, which is 3.2: that of Homebrew or MacPorts, if one is installed.

Clients with windows start servers with a PATH that has only the system's folders.
"""

from __future__ import annotations

import posix
import sys

SYSTEM_BASH = {"darwin": b"/bin/bash"}
"""The Bash that is too old for every handler, by system."""
NEWER = (b"/opt/homebrew/bin/bash", b"/usr/local/bin/bash", b"/opt/local/bin/bash")


def preferred_program(path: bytes) -> bytes:
    """Return the program that is started for `path`, which was found on PATH."""
    if path != SYSTEM_BASH.get(sys.platform):
        return path
    return next((newer for newer in NEWER if posix.access(newer, posix.X_OK)), path)
