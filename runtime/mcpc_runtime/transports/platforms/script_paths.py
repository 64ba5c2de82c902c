"""Port: which files the system runs by themselves, and how scripts read and write paths."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["LIST_SEPARATOR", "begins_as_program", "is_absolute", "joined_paths", "local_path", "path_writer"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.script_paths import (
        LIST_SEPARATOR,
        begins_as_program,
        is_absolute,
        joined_paths,
        local_path,
        path_writer,
    )
else:
    bind_port(globals(), f"{ADAPTER}.script_paths")
