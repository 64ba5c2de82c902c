"""What a process that serves over HTTP tells about itself: its age, its memory, and the processes of its handlers.

The names without our prefix are those that dashboards for Prometheus know.
"""

from __future__ import annotations

from collections.abc import Callable
from time import time

from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.system_features import resident_bytes

AddGauge = Callable[[str, str, Callable[[], int]], None]
"""Takes the name of a gauge, its help, and the function that reads it."""


STARTED = "process_start_time_seconds"
MEMORY = "process_resident_memory_bytes"
WAITING = "mcpc_calls_waiting"
PROCESSES = "mcpc_handler_processes"
HANDLER_MEMORY = "mcpc_handler_memory_bytes"


def add_process_gauges(add: AddGauge) -> None:
    """Add what is the same for all servers of the process; memory only where the system tells it."""
    began, pid = int(time()), system.getpid()
    add(STARTED, "When the process began to serve, in seconds since 1970.", lambda: began)
    if resident_bytes(pid):
        add(MEMORY, "Bytes of memory of the server's process.", lambda: resident_bytes(pid))


def add_handler_gauges(add: AddGauge, driver: HttpDriver) -> None:
    """Add the waiting calls of one server, and the processes that run its handlers."""

    def pids() -> list[int]:
        return [] if driver.dispatcher is None else driver.dispatcher.pids

    def waiting() -> int:
        return 0 if driver.dispatcher is None else driver.dispatcher.waiting

    add(WAITING, "Calls of handlers that wait until others end.", waiting)
    add(PROCESSES, "Processes that run handlers.", lambda: len(pids()))
    if resident_bytes(system.getpid()):
        add(HANDLER_MEMORY, "Bytes of memory of the processes that run handlers.", lambda: memory_of(pids()))


def memory_of(pids: list[int]) -> int:
    """Return the bytes of memory that some processes have together; shared memory counts for each."""
    return sum(map(resident_bytes, pids))
