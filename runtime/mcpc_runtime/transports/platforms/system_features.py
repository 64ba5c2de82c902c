"""Port: which optional features the system has."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["NO_ROOM", "PROBES", "WITHOUT", "has"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.system_features import NO_ROOM, PROBES, WITHOUT, has
else:
    bind_port(globals(), f"{ADAPTER}.system_features")
