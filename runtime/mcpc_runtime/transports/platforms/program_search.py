"""Port: find programs, Pythons and scripts, and what their paths look like."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = [
    "HOW_TO_INSTALL",
    "LIST_SEPARATOR",
    "begins_as_program",
    "find_program",
    "installed_pythons",
    "interpreter_lacking",
    "is_absolute",
    "joined_paths",
    "lasting_path",
    "local_path",
    "path_writer",
    "shell_path",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.program_search import (
        HOW_TO_INSTALL,
        LIST_SEPARATOR,
        begins_as_program,
        find_program,
        installed_pythons,
        interpreter_lacking,
        is_absolute,
        joined_paths,
        lasting_path,
        local_path,
        path_writer,
        shell_path,
    )
else:
    bind_port(globals(), f"{ADAPTER}.program_search")
