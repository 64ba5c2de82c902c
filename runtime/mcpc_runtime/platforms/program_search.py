"""Port: which program is started for one that was found on PATH."""

from mcpc_runtime.platforms import ADAPTER, bind_port

__all__ = ["preferred_program"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.platforms.posix.program_search import preferred_program
else:
    bind_port(globals(), f"{ADAPTER}.program_search")
