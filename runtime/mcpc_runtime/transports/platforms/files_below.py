"""Port: open files below a folder, where nothing in their path may lead outside it."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["open_file_below"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.files_below import open_file_below
else:
    bind_port(globals(), f"{ADAPTER}.files_below")
