"""Port: a path to which other processes append lines, and a stream that reads them as they come."""

from typing import TYPE_CHECKING

from mcpc.platforms import PLATFORM
from mcpc_runtime.platforms import bind_port

__all__ = ["open_log_pipe"]

if TYPE_CHECKING:
    from mcpc.platforms.posix.log_pipes import open_log_pipe
else:
    bind_port(globals(), f"mcpc.platforms.{PLATFORM}.log_pipes")
