"""Port: write to a shared stream without blocking."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["open_nonblocking", "write_patiently"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.nonblocking_writer import open_nonblocking, write_patiently
else:
    bind_port(globals(), f"{ADAPTER}.nonblocking_writer")
