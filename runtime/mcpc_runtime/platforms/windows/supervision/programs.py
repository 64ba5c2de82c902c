"""What runs a program: Windows itself knows executables only, so `#!` lines and batch files are read here.

A script whose `#!` line names Python is run by the server's own; any other name is looked up on PATH, with PATHEXT.  A
shell is never the one of a Linux beside this system (in `System32` and `WindowsApps`): it has other paths, another
environment, and no job.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Exists = Callable[[str], bool]

PYTHONS = ("python", "python3")
SHELLS = ("bash", "sh")
FOREIGN = ("\\system32", "\\sysnative", "\\windowsapps")
"""Folders whose `bash.exe` starts another system."""
BATCH = (".bat", ".cmd")
EXTENSIONS = ".COM;.EXE;.BAT;.CMD"
HEAD_SIZE = 256
NO_SHELL = "it needs Git Bash, which is not installed: see https://gitforwindows.org"


GIT_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA\\Programs")
MSYS = "C:\\msys64\\usr\\bin\\bash.exe"


class NoInterpreterError(OSError):
    """What a program needs is not there."""


def interpreter_words(head: bytes) -> list[str]:
    """Return the words of a `#!` line without `env` and its options; none if there is no such line."""
    if not head.startswith(b"#!"):
        return []
    words = head[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    if words and base_name(words[0]) == "env":
        words = words[1:]
        while words and (words[0].startswith("-") or "=" in words[0]):
            words = words[1:]
    return words


def base_name(path: str) -> str:
    """Return the name of a program, without its folder and `.exe`."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".exe")


def find_program(name: str, variables: Mapping[str, str], exists: Exists) -> str:
    """Return the path of a program on PATH, with an extension of PATHEXT; an empty text if there is none."""
    extensions = [extension for extension in (variables.get("PATHEXT") or EXTENSIONS).split(";") if extension]
    if name.lower().endswith(tuple(extension.lower() for extension in extensions)):
        extensions = [""]
    for folder in variables.get("PATH", "").split(";"):
        is_foreign = folder.lower().rstrip("\\/").endswith(FOREIGN)
        if not folder or (is_foreign and base_name(name) in SHELLS):
            continue
        for extension in extensions:
            path = f"{folder.rstrip(chr(92))}\\{name}{extension}"
            if exists(path):
                return path
    return ""


def find_bash(variables: Mapping[str, str], exists: Exists) -> str:
    """Return the path of Git Bash, beside the `git` on PATH or where it is installed, or of MSYS2; or an empty text."""
    git = find_program("git", variables, exists)
    folders = [git.rpartition("\\")[0].rpartition("\\")[0]] if git else []
    for place in GIT_FOLDERS:
        variable, _, below = place.partition("\\")
        if variables.get(variable):
            folders.append("\\".join(part for part in (variables[variable], below, "Git") if part))
    candidates = [*(f"{folder}\\bin\\bash.exe" for folder in folders), MSYS]
    return next((path for path in candidates if exists(path)), "")


def is_python(name: str) -> bool:
    """Tell whether a program's name is one of Python's: the server's own is meant, which is there."""
    return name in PYTHONS or name.startswith("python3.")


def is_batch(path: str) -> bool:
    """Tell whether a path is that of a batch file."""
    return path.lower().rstrip(". ").endswith(BATCH)


def located(argv: list[str], head: bytes, variables: Mapping[str, str], own_python: str, exists: Exists) -> list[str]:
    """Return the words that start a program: of `argv`, after the interpreter that its first bytes name.

    Raise NoInterpreterError if that is not there.
    """
    words = interpreter_words(head)
    if not words:
        if "/" in argv[0] or "\\" in argv[0]:
            return argv
        return [find_program(argv[0], variables, exists) or argv[0], *argv[1:]]
    name = base_name(words[0])
    if own_python and is_python(name):
        return [own_python, *words[1:], *argv]
    path = find_program(name, variables, exists) or (find_bash(variables, exists) if name in SHELLS else "")
    if not path:
        reason = NO_SHELL if name in SHELLS else f"it needs {name}, which is not on PATH"
        raise NoInterpreterError(MISSING_FILE, reason)
    return [path, *words[1:], *argv]


MISSING_FILE = 2
"""ENOENT."""
