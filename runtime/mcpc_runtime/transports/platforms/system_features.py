"""Port: what this system has: channels and signals of descriptors, memory, limits, alarms, the C library."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = [
    "NO_ROOM",
    "PROBES",
    "WITHOUT",
    "address_of",
    "available_bytes",
    "call",
    "has",
    "most_descriptors",
    "raise_after",
    "resident_bytes",
    "stop_timer",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.system_features import (
        NO_ROOM,
        PROBES,
        WITHOUT,
        address_of,
        available_bytes,
        call,
        has,
        most_descriptors,
        raise_after,
        resident_bytes,
        stop_timer,
    )
else:
    bind_port(globals(), f"{ADAPTER}.system_features")
