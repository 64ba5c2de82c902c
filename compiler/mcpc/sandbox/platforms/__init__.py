"""The operating system as the compiler sees it: one module a port, implemented by the adapter of this platform.

The rest of the compiler imports the ports, never an adapter.  Another platform is another folder here and in
`mcpc.sandbox.confinement`, and a row in PLATFORMS.
"""

from __future__ import annotations

import sys

__all__ = ["PLATFORM"]

PLATFORMS = {"win32": "windows"}
"""Of each system that is not POSIX: the name of its folders."""

PLATFORM = PLATFORMS.get(sys.platform, "posix")
