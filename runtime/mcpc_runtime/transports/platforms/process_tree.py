"""Port: which processes descend from which, and signals to them."""

from mcpc_runtime.transports.platforms.posix.supervision.termination import (
    ProcessSnapshot,
    signal_group,
    signal_process,
    start_time,
)

__all__ = ["ProcessSnapshot", "signal_group", "signal_process", "start_time"]
