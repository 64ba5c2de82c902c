"""Provider of files below the allowed folders, called in a thread; symbolic links are not followed."""

from __future__ import annotations

from errno import ELOOP, ENOTDIR
from os.path import realpath

from mcpc_runtime.handlers.files.runner import FileRefusedError, open_below
from mcpc_runtime.systems.mcp_bash.providers.requests import (
    FAILED,
    MISSING,
    OUTSIDE,
    TOO_LARGE,
    FileRequest,
    ProviderResult,
    too_large_message,
)
from mcpc_runtime.transports.platforms import system


def read_requested_file(request: FileRequest) -> ProviderResult:
    """Return a file that is below one of the request's folders."""
    # A uri may name a root as it is configured or by its real path; below the root no link is followed.
    for root in dict.fromkeys(path for configured in request.roots for path in (configured, realpath(configured))):
        rest = path_below(request.path, root)
        if rest is not None:
            # A root that is a file is opened below its folder.
            folder, _, name = root.rstrip("/").rpartition("/")
            return read_limited(root, rest, request.most) if rest else read_limited(folder, name, request.most)
    return ProviderResult(OUTSIDE, message=f"{request.path} is not below any of the allowed folders")


def path_below(path: str, root: str) -> str | None:
    """Return a path relative to a folder, empty for the folder itself, None if it is not below."""
    root = root.rstrip("/")
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else None


def read_limited(folder: str, path: str, most: int) -> ProviderResult:
    """Return the content of a file; no component of its path may be a symbolic link."""
    try:
        opened = open_below(folder or "/", path)
    except FileRefusedError as problem:
        return ProviderResult(OUTSIDE, message=f"{path}: {problem.strerror}")
    except OSError as problem:
        status = OUTSIDE if problem.errno in (ELOOP, ENOTDIR) else MISSING
        return ProviderResult(status, message=f"{path}: {problem.strerror}")
    pieces: list[bytes] = []
    # One byte more than is allowed tells that there is more.
    rest = most + 1
    try:
        while rest > 0 and (piece := system.read(opened, min(rest, 1 << 20))):
            pieces.append(piece)
            rest -= len(piece)
    except OSError as problem:
        return ProviderResult(FAILED, message=f"{path}: {problem.strerror}")
    finally:
        system.close(opened)
    return (
        ProviderResult(data=b"".join(pieces))
        if rest > 0
        else ProviderResult(TOO_LARGE, message=too_large_message(most))
    )
