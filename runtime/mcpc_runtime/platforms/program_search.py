"""Port: programs on PATH, and the interpreters of scripts."""

from mcpc_runtime.platforms import ADAPTER, bind_port

__all__ = ["find_program", "interpreter_lacking"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.platforms.posix.program_search import find_program, interpreter_lacking
else:
    bind_port(globals(), f"{ADAPTER}.program_search")
