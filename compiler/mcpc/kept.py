"""The folder in which what was made for one build is kept for the next, if only this user can write to it.

A folder, an entry or a folder above that somebody else owns or may write to is not believed: all is made anew, and that
is told once.  Entries are whole, or not used.  A folder that cannot be read or written is no problem of the build's.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from errno import EACCES
from functools import cache
from pathlib import Path

from mcpc_runtime import ownership

KEPT = {"builds": 16, "models": 64}
OTHERS = 32
"""How much is kept of a kind; what was used last stays."""


def place() -> Path:
    """Return the folder of the cache: one that is this user's alone, or if there is none, one for this process."""
    root = os.environ.get("MCPC_CACHE_DIR") or os.path.join(  # noqa: PTH118 - an empty variable means unset
        os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "mcpc"
    )
    return believed(os.path.abspath(root))  # noqa: PTH100 - a symlink at its end is not followed


@cache
def believed(root: str) -> Path:
    """Return a folder, made if need be, if nobody else could have written into it; else one for this process."""
    above, name = os.path.split(root)
    try:
        path = os.path.realpath(above)
        ownership.make_missing(path)
        ownership.refuse_shared(path)
        ownership.make_own(os.path.join(path, name))  # noqa: PTH118 - paths of the runtime are texts
    except ownership.UnusableError as problem:
        instead = tempfile.mkdtemp(prefix="mcpc-cache-")
        atexit.register(shutil.rmtree, instead, ignore_errors=True)
        words = "what was built before is not used; set MCPC_CACHE_DIR to a folder that only you can write to"
        sys.stderr.write(f"note: the cache {root} is not believed: {problem}; {words}\n")
        return Path(instead)
    except OSError:
        return Path(root)  # it cannot be made: whoever uses it is told
    return Path(path, name)


def folder_of(kind: str) -> Path:
    """Return the folder of a kind, made if need be; raise OSError if it is not this user's alone."""
    path = place() / kind
    try:
        ownership.make_own(str(path))
    except ownership.UnusableError as problem:
        raise PermissionError(EACCES, f"it is not believed: {problem}", str(path)) from None
    return path


def is_own(path: Path) -> bool:
    """Tell whether something is no symlink, belongs to this user, and can be written to by nobody else."""
    with suppress(OSError, ownership.UnusableError):
        found = path.lstat()
        ownership.refuse_others(str(path), found)
        return not stat.S_ISLNK(found.st_mode)
    return False


def load(kind: str, name: str) -> bytes | None:
    """Return what was kept under a name, if there is anything and it is whole."""
    with suppress(OSError):
        path = folder_of(kind) / name
        if not is_own(path):
            return None
        digest, _, data = path.read_bytes().partition(b"\n")
        if digest == hashlib.sha256(data).hexdigest().encode():
            with suppress(OSError):
                os.utime(path)
            return data
    return None


def keep(kind: str, name: str, data: bytes) -> None:
    """Keep some bytes under a name, whole or not at all."""
    with suppress(OSError):
        folder = folder_of(kind)
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
            Path(temporary).replace(folder / name)
        finally:
            Path(temporary).unlink(missing_ok=True)
        prune(kind)


def prune(kind: str) -> None:
    """Remove what was not used for the longest time, beyond what is kept of a kind."""
    with suppress(OSError):
        found = sorted((place() / kind).iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in found[KEPT.get(kind, OTHERS) :]:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
