"""Port: files without a name, which the system removes with their last descriptor."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["new_memory_file"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.memory_files import new_memory_file
else:
    bind_port(globals(), f"{ADAPTER}.memory_files")
