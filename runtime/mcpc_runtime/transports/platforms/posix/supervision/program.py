"""Start one program by `posix_spawn`, which does not copy the calling process."""

from __future__ import annotations

import posix
from _signal import SIGKILL, SIGSTOP
from collections.abc import Mapping
from errno import EACCES, ENOENT, ENOTDIR
from typing import Any

from mcpc_runtime.transports.platforms.posix.files import open_null
from mcpc_runtime.transports.platforms.posix.program_search import preferred_program

Variables = Mapping[Any, Any]
"""An environment, either all bytes or all text."""


CATCHABLE = tuple(number for number in range(1, 32) if number not in (SIGKILL, SIGSTOP))
"""Signals that get their default action in a child, even if the server ignores them."""
DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"
REGULAR, KIND = 0o100000, 0o170000


def start_program(argv: list[str], environment: Variables, descriptors: Mapping[int, int], directory: str) -> int:
    """Start a program as the leader of a new process group; return its process id.

    `descriptors`: its numbers to ours, which are all above its numbers.  By default its standard input is empty, and
    its standard output goes where standard error goes.
    """
    if not argv:
        raise ValueError("missing program name")
    null = -1 if 0 in descriptors else open_null()
    actions = [] if null < 0 else [(posix.POSIX_SPAWN_DUP2, null, 0)]
    actions += [(posix.POSIX_SPAWN_DUP2, ours, number) for number, ours in descriptors.items()]
    if 1 not in descriptors:
        # Last, so that descriptor 2 is the child's.
        actions.append((posix.POSIX_SPAWN_DUP2, 2, 1))
    here = -1
    path = b""
    try:
        # `posix_spawn` takes no folder: this process changes its own, which no other thread uses, and goes back below.
        here = change_directory(directory) if directory else -1
        path = find_program(argv[0], environment)
        return posix.posix_spawn(
            path, argv, environment, file_actions=actions, setpgroup=0, setsigdef=CATCHABLE, setsigmask=()
        )
    except FileNotFoundError as problem:
        if path and posix.access(path, posix.F_OK):
            raise OSError(problem.errno, "the interpreter in its first line does not exist") from None
        raise
    finally:
        if null >= 0:
            posix.close(null)
        if here >= 0:
            posix.fchdir(here)
            posix.close(here)


def change_directory(directory: str) -> int:
    """Change the working directory; return a descriptor of the previous one."""
    here = posix.open(".", getattr(posix, "O_PATH", posix.O_RDONLY) | posix.O_DIRECTORY)
    try:
        posix.chdir(directory)
    except OSError as problem:
        posix.close(here)
        raise OSError(problem.errno, f"{directory}: {problem.strerror}") from None
    return here


def find_program(program: str, environment: Variables) -> bytes:
    """Return the path of a program, searched in the PATH of its environment; raise OSError if it is not found."""
    name = program.encode("utf-8", "surrogateescape")
    if b"/" in name:
        return name
    path = DEFAULT_PATH
    for name_of, value in environment.items():  # a lookup would compare bytes with strings
        if name_of == ("PATH" if type(name_of) is str else b"PATH"):
            path = value.encode("utf-8", "surrogateescape") if type(value) is str else value
    refused = ENOENT
    for folder in path.split(b":"):
        candidate = (folder or b".") + b"/" + name
        try:
            mode = posix.stat(candidate).st_mode
        except OSError as problem:
            # As execvp(3): a file that may not be executed is reported only if no other folder has the program.
            refused = refused if problem.errno in (ENOENT, ENOTDIR) else EACCES
            continue
        if mode & KIND == REGULAR and posix.access(candidate, posix.X_OK):
            return preferred_program(candidate)
        refused = EACCES
    raise OSError(refused, posix.strerror(refused))
