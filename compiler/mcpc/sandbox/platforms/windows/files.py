"""Files of Windows, which has no modes: a file is executable if it begins as a program does.

`mcpc.reading.is_executable` decides in the same way on every system, and takes a mode for one sign more.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = [
    "READ_FLAGS",
    "cache_home",
    "file_state",
    "permissions",
    "replace_file",
    "servers_folder",
    "status_of_entry",
]

READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
"""Flags that open a file as bytes; a link that replaced it is followed, since no flag refuses that."""
ATTEMPTS, PAUSE_SECONDS = 10, 0.1
"""How often renaming is tried: a program that inspects new files, such as a virus scanner, opens them for a moment."""
IN_USE = "a program uses it: end the server that was started from it, or write another file"


def cache_home() -> Path:
    """Return the folder below which programs of this user keep their caches."""
    return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser())


def servers_folder() -> Path:
    """Return the folder of servers that this user has installed."""
    return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser()) / "mcp-servers"


def file_state(path: str) -> list[int]:
    """Return no numbers: a program may set each time that Windows has of a file."""
    return []


def permissions(status: os.stat_result, *, is_program: bool) -> int:
    """Return the permission bits that a file has on a POSIX system if its executable bit says what it is."""
    return 0o755 if is_program else 0o644


def replace_file(new: Path, target: Path) -> None:
    """Give a new file the name of another one; raise OSError if a program has that one open."""
    for _ in range(ATTEMPTS - 1):
        try:
            new.replace(target)
        except PermissionError:
            time.sleep(PAUSE_SECONDS)
        else:
            return
    try:
        new.replace(target)
    except PermissionError as problem:
        reason = IN_USE if target.is_file() else problem.strerror
        raise OSError(problem.errno, reason, str(target)) from None


def status_of_entry(entry: os.DirEntry[str], *, follow: bool) -> os.stat_result:
    """Return the status of a folder's entry, asked for by its path: a listing has no device and no file number."""
    return os.stat(entry.path, follow_symlinks=follow)  # noqa: PTH116 - there may be many
