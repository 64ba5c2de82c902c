"""Port: start processes through a supervisor, which ends them with everything that they started.

It is not in `processes`, because most users of that port start none.
"""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["SupervisedProcess", "Supervisor"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.supervision.client import SupervisedProcess, Supervisor
else:
    bind_port(globals(), f"{ADAPTER}.supervision.client")
