"""Port: find programs, interpreters of scripts, and Pythons."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = [
    "HOW_TO_INSTALL",
    "find_program",
    "installed_pythons",
    "interpreter_lacking",
    "lasting_path",
    "shell_path",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.program_search import (
        HOW_TO_INSTALL,
        find_program,
        installed_pythons,
        interpreter_lacking,
        lasting_path,
        shell_path,
    )
else:
    bind_port(globals(), f"{ADAPTER}.program_search")
