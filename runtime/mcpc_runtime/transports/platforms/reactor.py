"""Port: wait for descriptors and timers."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["READABLE", "WRITABLE", "Reactor", "watch_end"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.reactor import READABLE, WRITABLE, Reactor, watch_end
else:
    bind_port(globals(), f"{ADAPTER}.reactor")
