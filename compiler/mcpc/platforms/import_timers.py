"""Port: a time limit within a process."""

from typing import TYPE_CHECKING

from mcpc.platforms import PLATFORM
from mcpc_runtime.platforms import bind_port

__all__ = ["raise_after", "stop_timer"]

if TYPE_CHECKING:
    from mcpc.platforms.posix.import_timers import raise_after, stop_timer
else:
    bind_port(globals(), f"mcpc.platforms.{PLATFORM}.import_timers")
