"""Programs with what they start: a separate session, which a signal ends."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

__all__ = ["GROUP_OPTIONS", "NEEDED_VARIABLES", "USER_VARIABLES", "ProgramGroup"]

GROUP_OPTIONS: dict[str, Any] = {"start_new_session": True}
"""Options of Popen for a program that gets a group."""
NEEDED_VARIABLES: tuple[str, ...] = ()
"""Variables without which no program runs."""
USER_VARIABLES = ("HOME", "LOGNAME", "PATH", "TMPDIR", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME")
"""Variables that name the user's folders."""


class ProgramGroup:
    """A program that was started with GROUP_OPTIONS, and what it started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._leader = process.pid

    def end(self) -> None:
        """End all of it at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._leader, signal.SIGKILL)

    def close(self) -> None:
        """Forget the group: its program has ended."""
