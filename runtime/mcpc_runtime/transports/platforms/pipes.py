"""Port: pipes, those that children inherit, writers that do not block, and sockets that are waited for."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = [
    "adopt",
    "close",
    "incoming",
    "open_nonblocking",
    "outgoing",
    "recallable",
    "recalled",
    "socket_is_ready",
    "wake_pipe",
    "write_patiently",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.pipes import (
        adopt,
        close,
        incoming,
        open_nonblocking,
        outgoing,
        recallable,
        recalled,
        socket_is_ready,
        wake_pipe,
        write_patiently,
    )
else:
    bind_port(globals(), f"{ADAPTER}.pipes")
