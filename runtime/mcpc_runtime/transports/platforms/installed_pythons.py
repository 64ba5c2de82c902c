"""Port: the Pythons that are installed on this machine, and which of them are there to stay."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["installed_pythons", "lasting_path"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.installed_pythons import installed_pythons, lasting_path
else:
    bind_port(globals(), f"{ADAPTER}.installed_pythons")
