"""Timestamps (RFC 3339) before each line on standard error, where nothing else adds them.

systemd's journal adds one, and a person at a terminal has a clock; a file, or a pipe to one, has neither.
"""

from __future__ import annotations

import os

from mcpc_runtime.operator_log import LineFormat
from mcpc_runtime.server.call_log import timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ERRORS = 2
JOURNAL = "JOURNAL_STREAM"
"""Where systemd says which file is a stream to its journal: `device:inode`."""


def stamp_lines(environment: Mapping[str, str], descriptor: int = ERRORS) -> None:
    """Have every line from now on begin with its time, unless standard error is a terminal or the journal."""
    if not os.isatty(descriptor) and not is_journal(environment.get(JOURNAL, ""), descriptor):
        LineFormat.prefix = prefix


def is_journal(said: str, descriptor: int) -> bool:
    """Tell whether a descriptor is the stream that systemd names."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return False
    return said == f"{found.st_dev}:{found.st_ino}"


def prefix() -> str:
    """Return what a line begins with."""
    return f"{timestamp()} "
