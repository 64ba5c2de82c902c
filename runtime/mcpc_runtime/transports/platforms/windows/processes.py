"""What belongs to processes but their jobs: the variable that names a call, options of Python, signals."""

from __future__ import annotations

__all__ = [
    "CALL_VARIABLE",
    "PYTHON_OPTIONS",
    "SHELLS_INHERIT_PIPES",
    "SIGKILL",
    "signal_group",
]

CALL_VARIABLE = "MCPC_CALL"
PYTHON_OPTIONS = ("-X", "utf8")
"""Options of the interpreters that run handlers: without this one their files and output have the encoding of 1990."""

SHELLS_INHERIT_PIPES = False
"""Whether a shell inherits descriptors other than its standard streams: that of Git takes no others."""
SIGKILL = 9
"""The signal by which a shell counts as ended that was ended without a status."""


def signal_group(pid: int, number: int) -> bool:
    """Return False: no process is in a group; jobs end them."""
    return False
