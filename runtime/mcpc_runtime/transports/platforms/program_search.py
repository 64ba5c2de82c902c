"""Port: programs on PATH, and the interpreters of scripts."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["HOW_TO_INSTALL", "find_program", "interpreter_lacking", "shell_path"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.program_search import (
        HOW_TO_INSTALL,
        find_program,
        interpreter_lacking,
        shell_path,
    )
else:
    bind_port(globals(), f"{ADAPTER}.program_search")
