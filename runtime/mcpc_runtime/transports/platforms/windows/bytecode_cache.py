"""Cached bytecode: read from a file below the user's own profile, whose rights it inherits.

It is compiled at each start with a Python that the server's file has no bytecode for, before anything else of the
runtime: so it is short and uses the system's calls alone.  Its rules are those of `private_files`.
"""

import sys

assert sys.platform == "win32"

import nt as system
from _frozen_importlib_external import MAGIC_NUMBER
from _imp import source_hash

FLAGS = system.O_BINARY | system.O_NOINHERIT
REPARSE_POINT = 0x400


def candidate_folders() -> "list[str]":
    """Return the folders to try."""
    variable = system.environ.get
    chosen = variable("MCPC_RUNTIME_CACHE")
    if chosen:
        return [system._getfullpathname(chosen) + "\\bytecode"]  # type: ignore[attr-defined]
    folders = [variable(name, "").replace("/", "\\").rstrip("\\") for name in ("LOCALAPPDATA", "TEMP")]
    # Absolute paths on a drive alone: others depend on the working directory or on another machine.
    return [folder + "\\mcpc\\bytecode" for folder in folders if folder[1:3] == ":\\"]


def is_unshared(folder: str) -> bool:
    """Tell whether a folder is below the user's own profile, and neither it nor one between is a link."""
    for name in ("USERPROFILE", "LOCALAPPDATA", "APPDATA"):
        own = system.environ.get(name, "").replace("/", "\\").rstrip("\\").lower()
        if own and (folder.lower() + "\\").startswith(own + "\\") and "\\..\\" not in folder:
            while len(folder) > len(own):
                if system.lstat(folder).st_file_attributes & REPARSE_POINT:
                    return False
                folder = folder.rpartition("\\")[0]
            return True
    return False


def file_name(digest: str, part: str) -> str:
    """Return the name of a cached file: of the sources, this Python, and the part of the bytecode."""
    return f"{digest}-{sys.implementation.cache_tag}-{MAGIC_NUMBER.hex()}.{part}"


def content_hash(data: bytes) -> bytes:
    """Return the hash that a cached file begins with: one that was not written completely has another one."""
    return source_hash(int.from_bytes(MAGIC_NUMBER, "little"), data)


def read_cached(digest: str, part: str) -> bytes:
    """Return a part of the cached bytecode; empty if there is none that can be used."""
    for folder in candidate_folders():
        try:
            path = folder + "\\" + file_name(digest, part)
            if not is_unshared(folder) or system.lstat(path).st_file_attributes & REPARSE_POINT:
                continue
            descriptor = system.open(path, system.O_RDONLY | FLAGS)
        except (OSError, ValueError):
            continue
        try:
            data = system.read(descriptor, system.fstat(descriptor).st_size)
        finally:
            system.close(descriptor)
        if data[:8] == content_hash(data[8:]):
            return data[8:]
    return b""
