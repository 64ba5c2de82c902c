"""Port: wait for descriptors and timers."""

from mcpc_runtime.lazy import lazy
from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["READABLE", "WRITABLE", "Reactor", "watch_end"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.hangups import watch_end
    from mcpc_runtime.transports.platforms.posix.reactor import READABLE, WRITABLE, Reactor
else:
    watch_end = lazy(f"{ADAPTER}.hangups:watch_end")
    bind_port(globals(), f"{ADAPTER}.reactor")
