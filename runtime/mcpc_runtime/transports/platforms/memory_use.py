"""Port: how much memory a process uses and how much is left, where the system tells it at little cost."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["available_bytes", "resident_bytes"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.memory_use import available_bytes, resident_bytes
else:
    bind_port(globals(), f"{ADAPTER}.memory_use")
