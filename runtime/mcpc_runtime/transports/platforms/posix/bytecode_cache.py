"""Cached bytecode: read from a file that other users can neither change nor replace.

It is compiled at each start with a Python that the server's file has no bytecode for, before anything else of the
runtime: so it is short and uses the system's calls alone.  Its rules are those of `private_files`, without the
exception for groups of one user: where that matters, the folder for temporary files is used.
"""

import posix as system
import sys
from _frozen_importlib_external import MAGIC_NUMBER
from _imp import source_hash

# Without O_NONBLOCK, opening a FIFO in the place of a file would wait for a writer.
FLAGS = system.O_NOFOLLOW | system.O_NONBLOCK | system.O_CLOEXEC
FOLDER, FILE, KIND, STICKY, WRITABLE = 0o040000, 0o100000, 0o170000, 0o1000, 0o022


def candidate_folders() -> "list[bytes]":
    """Return the folders to try."""
    variable = system.environ.get
    chosen, cache = variable(b"MCPC_RUNTIME_CACHE"), variable(b"XDG_CACHE_HOME", b"")
    if chosen:
        return [(chosen if chosen[:1] == b"/" else system.getcwdb() + b"/" + chosen) + b"/bytecode"]
    if cache[:1] != b"/" and variable(b"HOME"):
        cache = variable(b"HOME", b"") + b"/.cache"
    temporary = b"%s/mcpc-%d/bytecode" % (variable(b"TMPDIR") or b"/tmp", system.geteuid())
    return [cache + b"/mcpc/bytecode", temporary] if cache[:1] == b"/" else [temporary]


def is_private(descriptor: int, kind: int) -> bool:
    """Tell whether a file or folder is this user's own, and no other user can write to it."""
    status = system.fstat(descriptor)
    return status.st_uid == system.geteuid() and status.st_mode & (KIND | WRITABLE) == kind


def is_unshared(descriptor: int, folder: bytes) -> bool:
    """Tell whether no other user can replace a folder or one above it; links are resolved where there is /proc."""
    try:
        folder = system.readlink(b"/proc/self/fd/%d" % descriptor)
    except OSError:
        # Without /proc the path is walked as text, in which `..` after a link means another folder.
        if b"/../" in folder:
            return False
    while folder:
        status = system.lstat(folder)
        # In a folder with the sticky bit, as /tmp, only its owner and that of a file can rename or remove the file.
        is_writable = status.st_mode & WRITABLE and not status.st_mode & STICKY
        if status.st_uid not in (0, system.geteuid()) or status.st_mode & KIND != FOLDER or is_writable:
            return False
        folder = folder.rpartition(b"/")[0]
    return True


def file_name(digest: str, part: str) -> str:
    """Return the name of a cached file: of the sources, this Python, and the part of the bytecode."""
    return f"{digest}-{sys.implementation.cache_tag}-{MAGIC_NUMBER.hex()}.{part}"


def content_hash(data: bytes) -> bytes:
    """Return the hash that a cached file begins with: one that was not written completely has another one."""
    return source_hash(int.from_bytes(MAGIC_NUMBER, "little"), data)


def read_cached(digest: str, part: str) -> bytes:
    """Return a part of the cached bytecode; empty if there is none that can be used."""
    for folder in candidate_folders():
        opened = []
        try:
            opened.append(system.open(folder, system.O_RDONLY | FLAGS))
            if is_private(opened[0], FOLDER) and is_unshared(opened[0], folder):
                opened.append(system.open(file_name(digest, part), system.O_RDONLY | FLAGS, dir_fd=opened[0]))
                # A read that returns less has another hash, and counts as no file.
                data = system.read(opened[1], system.fstat(opened[1]).st_size) if is_private(opened[1], FILE) else b""
                if data[:8] == content_hash(data[8:]):
                    return data[8:]
        except (OSError, ValueError):
            continue
        finally:
            for descriptor in opened:
                system.close(descriptor)
    return b""
