"""Port: a time limit of the code that runs on this thread.  Programs use it while they are described at a build."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["raise_after", "stop_timer"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.alarms import raise_after, stop_timer
else:
    bind_port(globals(), f"{ADAPTER}.alarms")
