"""Programs with what they start on Windows: a job, which they enter before they run and cannot leave."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import ctypes
import subprocess
from typing import Any

from mcpc_runtime.transports.platforms.windows.supervision import kernel

__all__ = ["GROUP_OPTIONS", "NEEDED_VARIABLES", "USER_VARIABLES", "ProgramGroup"]

SUSPENDED = 0x4
GROUP_OPTIONS: dict[str, Any] = {"creationflags": SUSPENDED | subprocess.CREATE_NO_WINDOW}
"""Options of Popen for a program that gets a group: it runs when it is in its job, without the caller's console."""
NEEDED_VARIABLES = (
    "COMSPEC",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES*",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "WINDIR",
)
"""Variables without which most programs do not run; Windows spells all names in capitals."""
USER_VARIABLES = (
    "APPDATA",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
)
"""Variables that name the user's folders."""


class ProgramGroup:
    """A program that was started with GROUP_OPTIONS, and what it starts."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._job = kernel.create_job()
        handle = _winapi.OpenProcess(_winapi.PROCESS_ALL_ACCESS, False, process.pid)
        try:
            kernel.put_in_job(self._job, handle)
        except OSError:
            process.kill()
            raise
        finally:
            # Popen has closed the handle of the thread, so that only the process as a whole can be resumed.
            ctypes.WinDLL("ntdll").NtResumeProcess(ctypes.c_void_p(handle))
            _winapi.CloseHandle(handle)

    def end(self) -> None:
        """End all of it at once."""
        kernel.terminate_job(self._job)

    def close(self) -> None:
        """End what the program has left behind."""
        job, self._job = self._job, 0
        if job:
            _winapi.CloseHandle(job)
