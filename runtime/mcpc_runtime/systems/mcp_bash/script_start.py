"""How a file of the project is started: by itself if the system can execute it, else by Bash; and its form of paths."""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.scripts import begins_as_program, path_writer

WritePath = Callable[[str], str]


HEAD_SIZE = 256
BASH_SCRIPT = b"#!/bin/bash\n"
"""The beginning of a script that Bash runs, whatever its own says."""
write_shell_path = path_writer(BASH_SCRIPT)


class ScriptStart:
    """The command line of a file, and `write_path`, which writes a path as it reads them."""

    __slots__ = ("argv", "write_path")

    def __init__(self, argv: list[str], write_path: WritePath) -> None:
        self.argv = argv
        self.write_path = write_path


def script_start(path: str) -> ScriptStart:
    """Return how a file is started; raise OSError if it cannot be read."""
    head = first_bytes(path)
    if system.access(path, system.X_OK) and begins_as_program(path, head):
        return ScriptStart([path], path_writer(head))
    return ScriptStart(["bash", write_shell_path(path)], write_shell_path)


def first_bytes(path: str) -> bytes:
    """Return the first bytes of a file."""
    file = system.open(path, system.O_RDONLY | system.O_CLOEXEC)
    try:
        return system.read(file, HEAD_SIZE)
    finally:
        system.close(file)
