"""Port: pipes whose end in this process does not block."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["close", "incoming", "outgoing", "recallable", "recalled", "wake_pipe"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.pipes import close, incoming, outgoing, recallable, recalled, wake_pipe
else:
    bind_port(globals(), f"{ADAPTER}.pipes")
