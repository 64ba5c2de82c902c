"""Port: a terminal that is drawn on as a whole, and read key by key."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["FullScreen", "terminal_size"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.terminals import FullScreen, terminal_size
else:
    bind_port(globals(), f"{ADAPTER}.terminals")
