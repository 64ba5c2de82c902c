"""The operating system as the compiler sees it: a port, implemented by the adapter of this platform.

Console: what ends the compiler, how it prints, and command lines for the user's shell.  Files: how they are opened,
identified and replaced, and what their modes mean.  Log pipes: a path to which other processes append lines.  Groups of
programs: what is ended together with all that it starts.

The rest of the compiler imports the port, never an adapter.  Another platform is another module here, another folder in
`mcpc.sandbox.confinement`, and a row in PLATFORMS.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpc_runtime.transports.platforms import bind_port

__all__ = [
    "ENDING_SIGNALS",
    "GROUP_OPTIONS",
    "NEEDED_VARIABLES",
    "PLATFORM",
    "READ_FLAGS",
    "USER_VARIABLES",
    "ProgramGroup",
    "cache_home",
    "file_state",
    "open_log_pipe",
    "permissions",
    "quoted_word",
    "replace_file",
    "signal_main_thread",
    "start_of_file",
    "status_of_entry",
    "use_utf8",
    "write_within",
]

PLATFORMS = {"win32": "windows"}
"""Of each system that is not POSIX: the name of its adapter."""
PLATFORM = PLATFORMS.get(sys.platform, "posix")

if TYPE_CHECKING:
    from mcpc.sandbox.platforms.posix import (
        ENDING_SIGNALS,
        GROUP_OPTIONS,
        NEEDED_VARIABLES,
        READ_FLAGS,
        USER_VARIABLES,
        ProgramGroup,
        cache_home,
        file_state,
        open_log_pipe,
        permissions,
        quoted_word,
        replace_file,
        signal_main_thread,
        start_of_file,
        status_of_entry,
        use_utf8,
        write_within,
    )
else:
    bind_port(globals(), f"mcpc.sandbox.platforms.{PLATFORM}")
