"""Port: programs that are ended together with all that they start."""

from typing import TYPE_CHECKING

from mcpc.platforms import PLATFORM
from mcpc_runtime.platforms import bind_port

__all__ = ["GROUP_OPTIONS", "NEEDED_VARIABLES", "USER_VARIABLES", "ProgramGroup"]

if TYPE_CHECKING:
    from mcpc.platforms.posix.program_groups import GROUP_OPTIONS, NEEDED_VARIABLES, USER_VARIABLES, ProgramGroup
else:
    bind_port(globals(), f"mcpc.platforms.{PLATFORM}.program_groups")
