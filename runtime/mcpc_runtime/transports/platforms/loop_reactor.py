"""Port: the reactor's interface over a running asyncio loop."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["LoopReactor"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.loop_reactor import LoopReactor
else:
    bind_port(globals(), f"{ADAPTER}.loop_reactor")
