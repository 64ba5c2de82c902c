"""Port: the pipes with which a process was started."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["adopt"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.inherited_pipes import adopt
else:
    bind_port(globals(), f"{ADAPTER}.inherited_pipes")
