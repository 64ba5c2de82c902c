"""Files below folders, for a thread that may wait: no step of a path that is opened is a link."""

from __future__ import annotations

import posix
from errno import ELOOP, ENOTDIR

from mcpc_runtime.lazy import lazy
from mcpc_runtime.providers.wanted import FAILED, MISSING, OUTSIDE, TOO_LARGE, Brought, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os.path import realpath

    from mcpc_runtime.providers.wanted import File
    from mcpc_runtime.runners import files
    from mcpc_runtime.runners.files import open_below
else:
    open_below = lazy("mcpc_runtime.runners.files:open_below")
    realpath = lazy("os.path:realpath")
    files = lazy("mcpc_runtime.runners.files")


def file(asked: File) -> Brought:
    """Return a file that lies below one of its folders."""
    for root in dict.fromkeys(place for given in asked.roots for place in (given, real(given))):
        rest = below(asked.path, root)
        if rest is not None:
            folder, _, name = root.rstrip("/").rpartition("/")
            return read(root, rest, asked.most) if rest else read(folder, name, asked.most)
    return Brought(OUTSIDE, words=f"{asked.path} is below none of the folders that may be read")


def real(path: str) -> str:
    """Return a folder's path without links."""
    found_path: str = realpath(path)
    return found_path


def below(path: str, root: str) -> str | None:
    """Return the rest of a path below a folder, nothing for itself, None if it is not below."""
    root = root.rstrip("/")
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else None


def read(folder: str, path: str, most: int) -> Brought:
    """Return what a file has; no step of its path may be a link."""
    try:
        opened: int = open_below(folder or "/", path)
    except files.RefusedError as problem:
        return Brought(OUTSIDE, words=f"{path}: {problem.strerror}")
    except OSError as problem:
        status = OUTSIDE if problem.errno in (ELOOP, ENOTDIR) else MISSING
        return Brought(status, words=f"{path}: {problem.strerror}")
    pieces: list[bytes] = []
    rest = most + 1
    try:
        while rest > 0 and (piece := posix.read(opened, min(rest, 1 << 20))):
            pieces.append(piece)
            rest -= len(piece)
    except OSError as problem:
        return Brought(FAILED, words=f"{path}: {problem.strerror}")
    finally:
        posix.close(opened)
    return Brought(data=b"".join(pieces)) if rest > 0 else Brought(TOO_LARGE, words=too_large(most))
