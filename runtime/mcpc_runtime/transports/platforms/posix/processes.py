"""What belongs to processes but their supervisor: the variable that names a call, options of Python, signals."""

from _signal import SIGKILL

from mcpc_runtime.transports.platforms.posix.supervision import CALL_VARIABLE
from mcpc_runtime.transports.platforms.posix.supervision.termination import signal_group

__all__ = [
    "CALL_VARIABLE",
    "PYTHON_OPTIONS",
    "SHELLS_INHERIT_PIPES",
    "SIGKILL",
    "signal_group",
]

PYTHON_OPTIONS = ()
"""Options of the interpreters that run handlers, beside those for isolation."""
SHELLS_INHERIT_PIPES = True
"""Whether a shell inherits descriptors other than its standard streams."""
