"""Port: which program is started for one that was found on PATH."""

from mcpc_runtime.platforms.posix.program_search import preferred_program

__all__ = ["preferred_program"]
