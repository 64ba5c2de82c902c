"""What runs a program: Windows itself knows executables only, so `#!` lines and batch files are read here.

A script whose `#!` line names Python is run by the server's own; any other name is looked up on PATH, with PATHEXT.  A
shell is Git Bash, that of MSYS2, or another one on PATH, in this order; never the one of a Linux beside this system (in
`System32` and `WindowsApps`): it has other paths, another environment, and no job.

The words of a command as one line, and variables as one block: that is how a process receives them on Windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

Exists = Callable[[str], bool]


PYTHONS = ("python", "python3")
SHELLS = ("bash", "sh")
SEPARATORS = "\\/"
FOREIGN = ("\\system32", "\\sysnative", "\\windowsapps")
"""Folders whose `bash.exe` starts another system."""
BATCH = (".bat", ".cmd")
EXTENSIONS = ".COM;.EXE;.BAT;.CMD"
HEAD_SIZE = 256
NO_SHELL = "it needs Git Bash, which is not installed: see https://gitforwindows.org"


GIT_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA\\Programs")
MSYS_FOLDERS = ("\\msys64", "\\tools\\msys64", "\\msys32")
"""Where MSYS2 is installed, on the drive of the system."""


class Installed:
    """What is installed: the server's own Python, Git's folders by the registry, and any file by its path."""

    __slots__ = ("exists", "git_folders", "python")

    def __init__(self, python: str, exists: Exists, git_folders: Callable[[], Iterable[str]] = tuple) -> None:
        self.python = python
        self.exists = exists
        self.git_folders = git_folders


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
        is_foreign = folder.lower().rstrip(SEPARATORS).endswith(FOREIGN)
        if not folder or (is_foreign and base_name(name) in SHELLS):
            continue
        for extension in extensions:
            path = f"{folder.rstrip(SEPARATORS)}\\{name}{extension}"
            if exists(path):
                return path
    return ""


def find_shell(name: str, variables: Mapping[str, str], installed: Installed) -> str:
    """Return the path of `bash` or `sh` as Git or MSYS2 have it, or else of one on PATH; or an empty text."""
    for folder in shell_folders(variables, installed):
        path = f"{folder}\\{name}.exe"
        if installed.exists(path):
            return path
    return find_program(name, variables, installed.exists)


def shell_folders(variables: Mapping[str, str], installed: Installed) -> Iterator[str]:
    """Yield where shells may be: of Git by the registry, beside the `git` on PATH and where it is usually, of MSYS2."""
    folders = [*installed.git_folders()]
    git = find_program("git", variables, installed.exists)
    if git:
        # `git.exe` is in the folder `cmd` or `bin` of Git's own.
        folders.append(git.rpartition("\\")[0].rpartition("\\")[0])
    for place in GIT_FOLDERS:
        variable, _, below = place.partition("\\")
        if variables.get(variable):
            folders.append("\\".join(part for part in (variables[variable], below, "Git") if part))
    yield from (f"{folder.rstrip(SEPARATORS)}\\bin" for folder in folders)
    drive = variables.get("SYSTEMDRIVE") or "C:"
    yield from (f"{drive}{folder}\\usr\\bin" for folder in MSYS_FOLDERS)


def shell_path(path: str) -> str:
    """Return a path as the shells of Git and MSYS2 write it: `/c/folder/file` for a file of drive C."""
    path = path.replace("\\", "/")
    return f"/{path[0].lower()}{path[2:]}" if path[1:3] == ":/" and path[0].isalpha() else path


def is_python(name: str) -> bool:
    """Tell whether a program's name is one of Python's: the server's own is meant, which is there."""
    return name in PYTHONS or name.startswith("python3.")


def is_batch(path: str) -> bool:
    """Tell whether a path is that of a batch file."""
    # Windows drops dots and blanks at the end of a name.
    return path.lower().rstrip(". ").endswith(BATCH)


def located(argv: list[str], head: bytes, variables: Mapping[str, str], installed: Installed) -> list[str]:
    """Return the words that start a program: of `argv`, after the interpreter that its first bytes name.

    Raise NoInterpreterError if that is not there.
    """
    words = interpreter_words(head)
    if not words:
        if "/" in argv[0] or "\\" in argv[0]:
            return argv
        if argv[0] in SHELLS:
            return [required_program(argv[0], variables, installed), *argv[1:]]
        return [find_program(argv[0], variables, installed.exists) or argv[0], *argv[1:]]
    name = base_name(words[0])
    if installed.python and is_python(name):
        return [installed.python, *words[1:], *argv]
    program = required_program(name, variables, installed)
    path, *rest = argv
    return [program, *words[1:], shell_path(path) if name in SHELLS else path, *rest]


def required_program(name: str, variables: Mapping[str, str], installed: Installed) -> str:
    """Return the path of a program; raise NoInterpreterError if it is not there."""
    path = find_shell(name, variables, installed) if name in SHELLS else find_program(name, variables, installed.exists)
    if not path:
        raise NoInterpreterError(MISSING_FILE, NO_SHELL if name in SHELLS else f"it needs {name}, which is not on PATH")
    return path


MISSING_FILE = 2
"""ENOENT."""


BLANKS = ' \t\n\v"'
UNSAFE_IN_BATCH = '"%!&|<>^\r\n\0'
"""What the command interpreter would act on, even between quotes or in a batch file that removes them."""


def command_line(words: Iterable[str]) -> str:
    """Return words as one line, from which the C runtime of a program reads them again; raise ValueError for NUL."""
    line = " ".join(quoted(word) for word in words)
    if "\0" in line:
        raise ValueError("embedded null character")
    return line


def quoted(word: str) -> str:
    """Return a word, in quotes if need be: backslashes before a quote are doubled, and the quote gets one more."""
    if word and not any(character in word for character in BLANKS):
        return word
    text, backslashes = '"', 0
    for character in word:
        if character == "\\":
            backslashes += 1
        elif character == '"':
            text += "\\" * (backslashes + 1)
            backslashes = 0
        else:
            backslashes = 0
        text += character
    return text + "\\" * backslashes + '"'


def batch_line(interpreter: str, words: Iterable[str]) -> str:
    """Return the line that runs a batch file; raise ValueError for a word that the interpreter would act on."""
    inner = []
    for word in words:
        unsafe = next((character for character in word if character in UNSAFE_IN_BATCH), None)
        if unsafe is not None:
            raise ValueError(f"a batch file cannot safely be given the character {unsafe!r}")
        inner.append(f'"{word}"')
    # No AutoRun commands (/d), no delayed expansion (/v:off), and of the quotes only the outer ones are removed (/s).
    return f'{quoted(interpreter)} /d /v:off /s /c "{" ".join(inner)}"'


def environment_block(variables: Mapping[str, str]) -> str:
    """Return variables as a block: sorted by name, each ended by NUL; raise ValueError for one that cannot be."""
    rows = []
    for name, value in sorted(variables.items(), key=lambda row: row[0].upper()):
        # Names like `=C:` are the system's own: the working directory of each drive.
        if "\0" in name or "\0" in value or not name or "=" in name[1:]:
            raise ValueError(f"the variable {name!r} cannot be passed to a program")
        rows.append(f"{name}={value}\0")
    # A block without variables has two zeros as well; the buffer of `create_process` adds one.
    return "".join(rows) or "\0"
