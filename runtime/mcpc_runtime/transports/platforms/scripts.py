"""Port: files that the system runs by themselves, how scripts read and write paths, streams of notes from scripts."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = [
    "LIST_SEPARATOR",
    "begins_as_program",
    "forget_stream",
    "is_absolute",
    "joined_paths",
    "local_path",
    "open_stream",
    "path_writer",
    "watch_stream",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.scripts import (
        LIST_SEPARATOR,
        begins_as_program,
        forget_stream,
        is_absolute,
        joined_paths,
        local_path,
        open_stream,
        path_writer,
        watch_stream,
    )
else:
    bind_port(globals(), f"{ADAPTER}.scripts")
