"""Port: functions of the C library that no module of Python has."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["address_of", "call"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.c_library import address_of, call
else:
    bind_port(globals(), f"{ADAPTER}.c_library")
