"""Timestamps (RFC 3339) before each line on standard error, where nothing else adds them.

systemd's journal adds timestamps, and a terminal needs none; a file, or a pipe to one, does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from mcpc_runtime.log.operator_log import LineFormat
from mcpc_runtime.server.call_log import timestamp

ERRORS = 2
JOURNAL = "JOURNAL_STREAM"
"""The variable in which systemd names the stream to its journal: `device:inode`."""


def stamp_lines(environment: Mapping[str, str], descriptor: int = ERRORS) -> None:
    """Begin every line with its time from now on, unless standard error is a terminal or the journal."""
    if not os.isatty(descriptor) and not is_journal(environment.get(JOURNAL, ""), descriptor):
        LineFormat.prefix = prefix


def is_journal(stream: str, descriptor: int) -> bool:
    """Tell whether a descriptor is the stream that systemd names."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    return stream == f"{status.st_dev}:{status.st_ino}"


def prefix() -> str:
    """Return the beginning of a line."""
    return f"{timestamp()} "
