"""Port: a path to which other processes append lines, and a stream that reads them as they come."""

from typing import TYPE_CHECKING

from mcpc.sandbox.platforms import PLATFORM
from mcpc_runtime.transports.platforms import bind_port

__all__ = ["open_log_pipe"]

if TYPE_CHECKING:
    from mcpc.sandbox.platforms.posix.log_pipes import open_log_pipe
else:
    bind_port(globals(), f"mcpc.sandbox.platforms.{PLATFORM}.log_pipes")
