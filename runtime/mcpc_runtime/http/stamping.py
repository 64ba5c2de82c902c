"""The time before each line on standard error, as RFC 3339 has it, where nobody else adds it.

systemd's journal adds one, and a person at a terminal has a clock; a file, or a pipe to one, has neither.
"""

from __future__ import annotations

import os

from mcpc_runtime.calllog import timestamp
from mcpc_runtime.errors import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ERRORS = 2
JOURNAL = "JOURNAL_STREAM"
"""Where systemd says which file is a stream to its journal: `device:inode`."""


def stamp_lines(environment: Mapping[str, str], descriptor: int = ERRORS) -> None:
    """Have every line from now on begin with its time, unless standard error is a terminal or the journal."""
    if not os.isatty(descriptor) and not is_journal(environment.get(JOURNAL, ""), descriptor):
        Lines.prefix = prefix


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
