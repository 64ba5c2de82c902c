"""The cache folder of extracted native packages on Windows: below the user's profile, which other users cannot change.

Each folder is named by the digest of its files, and verified before use, once per process.  A module that is loaded can
be neither replaced nor deleted there, so a folder is never changed: it is written beside its place and renamed.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator

from mcpc_runtime.artifact.packages.folders import (
    CACHE_VARIABLE,
    MAX_TRIES,
    PAUSE_SECONDS,
    UNFINISHED_PREFIX,
    Files,
    Read,
    digest_name,
    for_each,
    make_trusted_folder,
    remove_abandoned,
    remove_tree,
    replace_folder,
    write_file,
)
from mcpc_runtime.transports.platforms.files import (
    UnusableFolderError,
    check_unshared,
    make_private_folders,
)

__all__ = ["cache_roots", "extract_folder", "make_trusted_folder"]

VARIABLES = ("LOCALAPPDATA", "TEMP")


def cache_roots() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the locations to try: an existing base folder, and the names of the private folders below it."""
    configured = os.environ.get(CACHE_VARIABLE)
    if configured:
        base, name = os.path.split(os.path.abspath(configured))
        yield base, (name,)
        return
    for variable in VARIABLES:
        folder = os.environ.get(variable, "")
        if os.path.isabs(folder):
            yield folder, ("mcpc", "native")


def extract_folder(root: str, files: Files, read: Read) -> str:
    """Return the verified folder of these files below `root`; a missing or damaged folder is replaced."""
    path = os.path.join(root, digest_name(files))
    for before in range(MAX_TRIES):
        time.sleep(PAUSE_SECONDS * max(before - 1, 0))
        try:
            if is_intact(path, files):
                return path
            write_folder(path, files, read)
        except OSError as problem:
            raise UnusableFolderError(f"{problem.filename or path}: {problem.strerror}") from None
    raise UnusableFolderError(f"{path} does not keep what is written to it")


def is_intact(path: str, files: Files) -> bool:
    """Tell whether every file exists and has its digest; all are read."""
    damaged: list[str] = []

    def verify(name: str) -> None:
        try:
            with open(os.path.join(path, name), "rb") as file:
                is_same = hashlib.file_digest(file, "sha256").hexdigest() == files[name]
        except OSError:
            is_same = False
        if not is_same:
            damaged.append(name)

    try:
        check_unshared(path)
    except (OSError, UnusableFolderError):
        return False
    for_each(files, verify)
    return not damaged


def write_folder(path: str, files: Files, read: Read) -> None:
    """Write the files into a folder beside `path`, and rename it unless another process has done so."""
    remove_abandoned(os.path.dirname(path))
    new = os.path.join(os.path.dirname(path), f"{UNFINISHED_PREFIX}{os.getpid()}-{os.urandom(8).hex()}")
    os.mkdir(new, 0o700)
    try:
        for folder in sorted({os.path.dirname(name) for name in files}):
            make_private_folders(os.path.join(new, folder))
        for_each(files, lambda name: write_file(os.path.join(new, name), read(name)))
        try:
            # Windows renames nothing to a name that exists.
            os.rename(new, path)
        except OSError:
            if not is_intact(path, files):
                replace_folder(path, new)
    finally:
        remove_tree(new)
        remove_tree(f"{new}.old")
