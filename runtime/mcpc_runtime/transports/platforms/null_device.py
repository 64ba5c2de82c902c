"""Port: input that is empty."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["open_null"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.null_device import open_null
else:
    bind_port(globals(), f"{ADAPTER}.null_device")
