"""Starting one program, as `posix_spawn` does: without a copy of whoever starts it, however large that is."""

from __future__ import annotations

import posix
from errno import EACCES, ENOENT, ENOTDIR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Variables = Mapping[Any, Any]
    """An environment: all of it bytes, or all of it text."""

CATCHABLE = tuple(number for number in range(1, 32) if number not in (9, 19))
"""Signals a child is to take as usual, whatever the server or whoever started it ignores (not KILL and STOP)."""
USUAL_PATH = b"/usr/local/bin:/usr/bin:/bin"
REGULAR, KIND = 0o100000, 0o170000


def start(argv: list[str], environment: Variables, descriptors: Mapping[int, int], directory: str) -> int:
    """Start a program as the leader of a new process group; return its process id.

    `descriptors`: its number to ours, which are all above its numbers.  What is not given: an empty standard input, and
    standard output goes where standard error goes.
    """
    if not argv:
        raise ValueError("missing program name")
    actions: list[tuple[int | str, ...]] = (
        [] if 0 in descriptors else [(posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0)]
    )
    actions += [(posix.POSIX_SPAWN_DUP2, ours, number) for number, ours in descriptors.items()]
    if 1 not in descriptors:
        actions.append((posix.POSIX_SPAWN_DUP2, 2, 1))
    here = enter(directory) if directory else -1
    place = b""
    try:
        place = locate(argv[0], environment)
        return posix.posix_spawn(
            place, argv, environment, file_actions=actions, setpgroup=0, setsigdef=CATCHABLE, setsigmask=()
        )
    except FileNotFoundError as problem:
        if place and posix.access(place, posix.F_OK):
            raise OSError(problem.errno, "the interpreter in its first line does not exist") from None
        raise
    finally:
        if here >= 0:
            posix.fchdir(here)
            posix.close(here)


def enter(directory: str) -> int:
    """Go to a directory; return a descriptor of the one before."""
    here = posix.open(".", getattr(posix, "O_PATH", posix.O_RDONLY) | posix.O_DIRECTORY)
    try:
        posix.chdir(directory)
    except OSError as problem:
        posix.close(here)
        raise OSError(problem.errno, f"{directory}: {problem.strerror}") from None
    return here


def locate(program: str, environment: Variables) -> bytes:
    """Return where a program is, by the PATH that it will find itself; raise OSError if it is nowhere."""
    name = program.encode("utf-8", "surrogateescape")
    if b"/" in name:
        return name
    path = USUAL_PATH
    for name_of, value in environment.items():  # looked up, bytes would be compared with strings
        if name_of == ("PATH" if type(name_of) is str else b"PATH"):
            path = value.encode("utf-8", "surrogateescape") if type(value) is str else value
    refused = ENOENT
    for folder in path.split(b":"):
        place = (folder or b".") + b"/" + name
        try:
            mode = posix.stat(place).st_mode
        except OSError as problem:
            refused = refused if problem.errno in (ENOENT, ENOTDIR) else EACCES
            continue
        if mode & KIND == REGULAR and posix.access(place, posix.X_OK):
            return place
        refused = EACCES
    raise OSError(refused, posix.strerror(refused))
