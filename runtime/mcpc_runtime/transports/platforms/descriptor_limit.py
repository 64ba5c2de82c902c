"""Port: how many descriptors this process may open."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["most_descriptors"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.descriptor_limit import most_descriptors
else:
    bind_port(globals(), f"{ADAPTER}.descriptor_limit")
