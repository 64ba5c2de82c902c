"""Port: start a confined program, and measure the folder that it may write."""

from typing import TYPE_CHECKING

from mcpc.sandbox.platforms import PLATFORM
from mcpc_runtime.transports.platforms import bind_port

__all__ = ["base_environment", "free_space", "start_confined", "used_space"]

if TYPE_CHECKING:
    from mcpc.sandbox.confinement.posix.running import base_environment, free_space, start_confined, used_space
else:
    bind_port(globals(), f"mcpc.sandbox.confinement.{PLATFORM}.running")
