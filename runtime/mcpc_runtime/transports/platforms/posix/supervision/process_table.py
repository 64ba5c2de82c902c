"""The processes of this machine, from the table that the system has: the files of /proc, or libproc (macOS).

It is selected in the server, before a supervisor is forked: what that process imported later it could not read.
"""

from __future__ import annotations

from typing import Protocol

from mcpc_runtime.transports.platforms.posix import system_features
from mcpc_runtime.transports.platforms.posix.supervision import ProcessEntry, libproc, proc_files


class ProcessTable(Protocol):
    """What both modules offer."""

    def process_ids(self) -> list[int]:
        """Return the process ids of this machine."""
        ...

    def process_entry(self, pid: int) -> ProcessEntry | None:
        """Return one process, or None."""
        ...

    def environment_block(self, pid: int) -> bytes:
        """Return the variables that a process was started with."""
        ...


tables: list[ProcessTable | None] = []
"""The table that takes the place of /proc, once it was looked for."""


def process_table() -> ProcessTable | None:
    """Return the system's process table; None if it has none that is known."""
    if system_features.has("proc"):
        return proc_files
    if not tables:
        tables.append(libproc if libproc.exists() else None)
    return tables[0]
