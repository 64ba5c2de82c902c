"""Folder of cached results of earlier builds, used only if no other user can write to it.

A folder, an entry or a parent folder that another user owns or can write to is not used: results are computed again,
and this is reported once. Entries are complete or not used. A folder that cannot be read or written does not fail the
build.
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
from typing import TYPE_CHECKING

from mcpc.sandbox.platforms import cache_home
from mcpc_runtime.transports.platforms import files as ownership

if TYPE_CHECKING:
    from collections.abc import Iterable

DECISIVE = frozenset({".py", ".j2", ".bash", ".sh", ".html", ".js", ".mjs", ".css", ".json"})
"""The suffixes of files that decide what the compiler does."""
MAX_ENTRIES_BY_KIND = {"builds": 16, "imports": 2, "keys": 64, "models": 64, "packages": 128, "packed": 8, "runtime": 8}
MAX_ENTRIES = 32
"""Maximum number of entries by kind, and for all other kinds; the most recently used ones are kept."""


def cache_folder() -> Path:
    """Return the cache folder of this user, or a temporary one for this process."""
    root = os.environ.get("MCPC_CACHE_DIR") or str(cache_home() / "mcpc")  # an empty variable means unset
    return trusted_folder(os.path.abspath(root))  # noqa: PTH100 - a symlink at its end is not followed


@cache
def trusted_folder(root: str) -> Path:
    """Return a folder, created if missing, that no other user can write to; else a temporary one for this process."""
    above, name = os.path.split(root)
    try:
        path = os.path.realpath(above)
        ownership.make_private_folders(path)
        ownership.check_unshared(path)
        ownership.make_private_folder(os.path.join(path, name))  # noqa: PTH118 - paths of the runtime are texts
    except ownership.UnusableFolderError as problem:
        instead = tempfile.mkdtemp(prefix="mcpc-cache-")
        atexit.register(shutil.rmtree, instead, ignore_errors=True)
        words = "earlier builds are not used; set MCPC_CACHE_DIR to a folder that only you can write to"
        sys.stderr.write(f"note: the cache {root} is not trusted: {problem}; {words}\n")
        return Path(instead)
    except OSError:
        return Path(root)  # it cannot be created: the caller gets the error
    return Path(path, name)


def kind_folder(kind: str) -> Path:
    """Return the folder of a kind, created if missing; raise OSError if another user can write to it."""
    path = cache_folder() / kind
    try:
        ownership.make_private_folder(str(path))
    except ownership.UnusableFolderError as problem:
        raise PermissionError(EACCES, f"it is not trusted: {problem}", str(path)) from None
    return path


def is_private(path: Path) -> bool:
    """Tell whether a path is not a symlink, belongs to this user, and cannot be written by other users."""
    with suppress(OSError, ownership.UnusableFolderError):
        status = path.lstat()
        ownership.check_private(str(path), status)
        return not stat.S_ISLNK(status.st_mode)
    return False


def load_entry(kind: str, name: str) -> bytes | None:
    """Return the bytes stored under a name, or None if they are missing or incomplete."""
    parts = load_parts(kind, name, 1)
    return None if parts is None else parts[0]


def load_parts(kind: str, name: str, count: int) -> list[bytes] | None:
    """Return the bytes stored under a name as lines and, as the last of `count` parts, all that follows them."""
    with suppress(OSError):
        path = kind_folder(kind) / name
        if not is_private(path):
            return None
        with path.open("rb") as file:  # a slice of a whole entry would copy it, and builds are large
            digest = file.readline()
            parts = [*(file.readline() for _ in range(count - 1)), file.read()]
        if digest == digest_line(parts):
            # The time of the last use, by which entries are pruned.
            with suppress(OSError):
                os.utime(path)
            return parts
    return None


def digest_line(parts: Iterable[bytes]) -> bytes:
    """Return the first line of an entry: the digest of what follows it."""
    summary = hashlib.sha256()
    for part in parts:
        summary.update(part)
    return summary.hexdigest().encode() + b"\n"


def store_entry(kind: str, name: str, *parts: bytes) -> None:
    """Store bytes under a name, atomically."""
    with suppress(OSError):
        folder = kind_folder(kind)
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines((digest_line(parts), *parts))
            Path(temporary).replace(folder / name)
        finally:
            Path(temporary).unlink(missing_ok=True)
        prune_entries(kind)


def prune_entries(kind: str) -> None:
    """Remove the least recently used entries beyond the maximum of a kind."""
    with suppress(OSError):
        # If another process removes an entry meanwhile, pruning is left to the next build.
        entries = sorted((cache_folder() / kind).iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in entries[MAX_ENTRIES_BY_KIND.get(kind, MAX_ENTRIES) :]:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


@cache
def code_digest(*folders: Path) -> str:
    """Return the digest of the code in some folders: what another version of it has stored is not used."""
    summary = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in DECISIVE):
        summary.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return summary.hexdigest()
