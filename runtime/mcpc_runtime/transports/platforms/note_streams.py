"""Port: places by path to which programs append lines while the server reads them."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["forget_stream", "open_stream", "watch_stream"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.note_streams import forget_stream, open_stream, watch_stream
else:
    bind_port(globals(), f"{ADAPTER}.note_streams")
