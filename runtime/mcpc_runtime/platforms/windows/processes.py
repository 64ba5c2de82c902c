"""What belongs to processes but their jobs: the variable that names a call, options of Python, signals."""

from __future__ import annotations

__all__ = ["CALL_VARIABLE", "PYTHON_OPTIONS", "SHELL_REFUSAL", "signal_group"]

CALL_VARIABLE = "MCPC_CALL"
PYTHON_OPTIONS = ("-X", "utf8")
"""Options of the interpreters that run handlers: without this one their files and output have the encoding of 1990."""

SHELL_REFUSAL = (
    "Bash handlers do not run on Windows; write it in Python, or as a program whose first line names bash, "
    "which needs Git Bash (https://gitforwindows.org)"
)
"""Why handlers that are Bash functions cannot run here: no shell of Windows inherits the descriptors of a call."""


def signal_group(pid: int, number: int) -> bool:
    """Return False: no process is in a group; jobs end them."""
    return False
