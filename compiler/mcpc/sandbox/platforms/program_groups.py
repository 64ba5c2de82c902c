"""Port: programs that are ended together with all that they start."""

from typing import TYPE_CHECKING

from mcpc.sandbox.platforms import PLATFORM
from mcpc_runtime.transports.platforms import bind_port

__all__ = ["GROUP_OPTIONS", "NEEDED_VARIABLES", "USER_VARIABLES", "ProgramGroup"]

if TYPE_CHECKING:
    from mcpc.sandbox.platforms.posix.program_groups import (
        GROUP_OPTIONS,
        NEEDED_VARIABLES,
        USER_VARIABLES,
        ProgramGroup,
    )
else:
    bind_port(globals(), f"mcpc.sandbox.platforms.{PLATFORM}.program_groups")
