r"""Programs by their first bytes or their extension, and paths in three forms.

The server's own form is `C:/folder/file`, which calls of the system take, too; programs of Windows are given
`C:\folder\file`; the shells of Git and MSYS2 are given, and write, `/c/folder/file`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcpc_runtime.transports.platforms.windows.supervision.programs import (
    SHELLS,
    base_name,
    interpreter_words,
    shell_path,
)

WritePath = Callable[[str], str]


__all__ = ["LIST_SEPARATOR", "begins_as_program", "is_absolute", "joined_paths", "local_path", "path_writer"]

LIST_SEPARATOR = ";"
SHELL_LIST_SEPARATOR = ":"
PROGRAM_MAGIC = (b"#!", b"MZ")
PROGRAM_EXTENSIONS = (".bat", ".cmd", ".com", ".exe")


def begins_as_program(path: str, head: bytes) -> bool:
    """Tell whether a file is a program: by its first bytes, or by its extension."""
    return head.startswith(PROGRAM_MAGIC) or path.lower().endswith(PROGRAM_EXTENSIONS)


def is_absolute(path: str) -> bool:
    """Tell whether a path begins at the root of a drive, or of another machine's share."""
    return (path[1:3] == ":/" and path[0].isalpha()) or path.startswith("//")


def local_path(text: str) -> str:
    r"""Return a path that a script or a client has written, as the server writes it.

    `/c/file`, as shells write it, `/C:/file`, as a uri does, and `C:\file` are all `C:/file`.
    """
    path = text.replace("\\", "/")
    if path[:1] == "/" and is_absolute(path[1:]):
        return path[1:]
    if path[:1] == "/" and path[1:2].isalpha() and path[2:3] in ("", "/"):
        return f"{path[1].upper()}:{path[2:] or '/'}"
    return path


def path_writer(head: bytes) -> WritePath:
    """Return the function that writes a path as a script with these first bytes reads it."""
    words = interpreter_words(head)
    return shell_path if words and base_name(words[0]) in SHELLS else program_path


def program_path(path: str) -> str:
    r"""Return a path with backslashes: `cmd.exe` takes a slash for the beginning of an option."""
    return path.replace("/", "\\")


def joined_paths(paths: Iterable[str], write_path: WritePath) -> str:
    """Return paths as a list for the scripts that `write_path` is for."""
    separator = SHELL_LIST_SEPARATOR if write_path is shell_path else LIST_SEPARATOR
    return separator.join(map(write_path, paths))
