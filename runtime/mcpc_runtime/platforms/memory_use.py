"""Port: how much memory a process uses, where the system tells it at little cost."""

from mcpc_runtime.platforms import ADAPTER, bind_port

__all__ = ["resident_bytes"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.platforms.posix.memory_use import resident_bytes
else:
    bind_port(globals(), f"{ADAPTER}.memory_use")
