"""What belongs to processes but their supervisor: the variable that names a call, options of Python, signals."""

from mcpc_runtime.platforms.posix.supervision import CALL_VARIABLE
from mcpc_runtime.platforms.posix.supervision.subtree import signal_group

__all__ = ["CALL_VARIABLE", "PYTHON_OPTIONS", "signal_group"]

PYTHON_OPTIONS = ()
"""Options of the interpreters that run handlers, beside those for isolation."""
