"""Files of a POSIX system: links are refused when a file is opened, and its mode is the file system's."""

from __future__ import annotations

import os
import stat
import sys
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

READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open a file which exists, and neither follow a link nor wait for the other end of a pipe."""

DATA_FOLDERS = {"darwin": "~/Library/Application Support"}
"""Folders of programs' data, of systems that have no variable for it."""


def cache_home() -> Path:
    """Return the folder below which programs of this user keep their caches."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())


def servers_folder() -> Path:
    """Return the folder of servers that this user has installed."""
    folder = DATA_FOLDERS.get(sys.platform) or os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(folder).expanduser() / "mcp-servers"


def file_state(path: str) -> list[int]:
    """Return numbers of a file that differ when it was changed; none if what is there is not a file itself."""
    status = os.lstat(path)
    is_file = stat.S_ISREG(status.st_mode)
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino] if is_file else []


def permissions(status: os.stat_result, *, is_program: bool) -> int:
    """Return the permission bits of a file."""
    return stat.S_IMODE(status.st_mode)


def replace_file(new: Path, target: Path) -> None:
    """Give a new file the name of another one, although that is in use."""
    new.replace(target)


def status_of_entry(entry: os.DirEntry[str], *, follow: bool) -> os.stat_result:
    """Return the status of a folder's entry."""
    return entry.stat(follow_symlinks=follow)
