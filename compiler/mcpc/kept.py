"""The folder in which what was made for one build is kept for the next: whole, and believed by its digest only.

A folder that cannot be read or written is no problem of the build's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

KEPT = {"builds": 16, "models": 64}
OTHERS = 32
"""How much is kept of a kind; what was used last stays."""


def place() -> Path:
    """Return the folder of the cache."""
    root = os.environ.get("MCPC_CACHE_DIR") or os.path.join(  # noqa: PTH118 - an empty variable means unset
        os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "mcpc"
    )
    return Path(root)


def load(kind: str, name: str) -> bytes | None:
    """Return what was kept under a name, if there is anything and it is whole."""
    with suppress(OSError):
        digest, _, data = (place() / kind / name).read_bytes().partition(b"\n")
        if digest == hashlib.sha256(data).hexdigest().encode():
            with suppress(OSError):  # another's, which may be used, and not marked as used
                os.utime(place() / kind / name)
            return data
    return None


def keep(kind: str, name: str, data: bytes) -> None:
    """Keep some bytes under a name, whole or not at all."""
    folder = place() / kind
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
