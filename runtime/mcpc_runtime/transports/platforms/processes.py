"""Port: start processes, and end them with everything that they started."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port
from mcpc_runtime.transports.platforms.cleanup import TEMPORARY_FOLDERS, remove_quietly, remove_tree

__all__ = [
    "CALL_VARIABLE",
    "PYTHON_OPTIONS",
    "SHELLS_INHERIT_PIPES",
    "SIGKILL",
    "TEMPORARY_FOLDERS",
    "remove_quietly",
    "remove_tree",
    "signal_group",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.processes import (
        CALL_VARIABLE,
        PYTHON_OPTIONS,
        SHELLS_INHERIT_PIPES,
        SIGKILL,
        signal_group,
    )
else:
    bind_port(globals(), f"{ADAPTER}.processes")
