"""The environment of shells, and the texts that they read before they call a function.

No variable of the environment except PATH decides how Bash reads a library or finds a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.program_search import shell_path


class ShellPrograms(Protocol):
    """The texts and environments of shells; `name` is the prefix of Bash's messages."""

    @property
    def name(self) -> str: ...
    def program(self, name: str) -> str: ...
    def environment(self, number: int, /) -> Mapping[bytes, bytes]: ...
    def texts(self, part: bytes = b"") -> list[bytes]: ...


FILES_VARIABLE = b"MCPC_FILES"
"""The folder of the project's files, if a library uses it, or its own place."""
PROGRAM_FOLDER = "mcpc_app/bash/"
LAUNCHER = "launcher.bash"
LINE_MARK = b": line "
"""Follows the source of a text in Bash's messages: `/dev/fd/9`, with one `/.` for each text before it."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_EXPORTED_LENGTH = 100_000
"""Bytes: Linux limits each variable of a program to 128 KiB, so a longer one is set in the shell, not exported."""
EXCLUDED_VARIABLES = frozenset(
    b"BASHOPTS BASH_ENV BASH_XTRACEFD CDPATH ENV GLOBIGNORE IFS POSIXLY_CORRECT PS4 SHELLOPTS".split()
)
EXCLUDED_PREFIXES = (b"BASH_FUNC_", b"mcpc_arg_")
"""Exported functions, and variables that would be mistaken for arguments."""


class Libraries:
    """The libraries of a server.  Entries of the archive are read once."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self._entries: dict[str, bytes] = {}
        self._configured = [(name.encode(), value.encode()) for name, value in host.image.index["environment"]]
        self._environments: dict[int, dict[bytes, bytes]] = {}

    @property
    def name(self) -> str:
        """The prefix of messages of a shell that reads all libraries: the name of the first one."""
        return str(self._host.image.index["shell"][0]).rpartition("/")[2]

    def program(self, name: str) -> str:
        """Return the program with which Bash is started."""
        return self._entry(PROGRAM_FOLDER + name).decode()

    def environment(self, number: int) -> dict[bytes, bytes]:
        """Return the environment of a shell; do not change it."""
        environment = self._environments.get(number)
        if environment is None:
            inherited = self._host.environment(number).items()
            environment = {name: value for name, value in inherited if not is_excluded_variable(name)}
            environment.update((name, value) for name, value in self._configured if len(value) <= MAX_EXPORTED_LENGTH)
            if self._host.image.index.get("unpack"):
                environment[FILES_VARIABLE] = shell_path(extracted_folder(self._host.image)).encode()
            self._environments[number] = environment
        return environment

    def texts(self, part: bytes = b"") -> list[bytes]:
        """Return the texts to read, in order: the prelude, then `part`, or all libraries."""
        index = self._host.image.index
        large = b"".join(
            b"%b=%b\n" % (name, quote_word(value))
            for name, value in self._configured
            if len(value) > MAX_EXPORTED_LENGTH
        )
        texts = [self._entry(PROGRAM_FOLDER + name) for name in index["prelude"]]
        if large:
            texts.append(large)
        if part:
            return [*texts, part]
        if index.get("unpack"):  # a library uses its own path
            folder = shell_path(extracted_folder(self._host.image))
            return [*texts, *(b"source -- " + quote_word(f"{folder}/{path}".encode()) for path in index["shell"])]
        # Bash would take a byte order mark for the beginning of the first command.
        return [*texts, *(self._entry(f"handlers/{path}").removeprefix(BYTE_ORDER_MARK) for path in index["shell"])]

    def name_sources(self, completed: ProcessResult) -> ProcessResult:
        """Replace descriptors by the names of libraries in Bash's messages: O(output)."""
        if LINE_MARK in completed.output:
            for field in ("output", "printed", "errors"):
                setattr(completed, field, self._replace_sources(getattr(completed, field)))
        return completed

    def _replace_sources(self, data: bytes) -> bytes:
        index = self._host.image.index
        names = [
            *index["prelude"],
            *(["mcpc"] if any(len(value) > MAX_EXPORTED_LENGTH for _, value in self._configured) else []),
        ]
        sources = [(f"/dev/fd{'/.' * number}/9", name) for number, name in enumerate((*names, *index["shell"]))]
        if index.get("unpack"):
            folder = shell_path(extracted_folder(self._host.image))
            sources += [(f"{folder}/{path}", path) for path in index["shell"]]
        for source, name in sources:
            data = data.replace(source.encode() + LINE_MARK, name.encode("utf-8", "replace") + LINE_MARK)
        return data

    def _entry(self, name: str) -> bytes:
        if name not in self._entries:
            self._entries[name] = self._host.image.entry(name)
        return self._entries[name]


def is_excluded_variable(name: bytes) -> bool:
    """Tell whether a variable must not be passed to a shell."""
    return name in EXCLUDED_VARIABLES or name.startswith(EXCLUDED_PREFIXES)


def quote_word(value: bytes) -> bytes:
    """Return a text as one word of Bash, in single quotes."""
    return b"'" + value.replace(b"'", b"'\\''") + b"'"


def join_texts(texts: list[bytes]) -> bytes:
    """Return texts as a shell reads them, each with a null byte at its end."""
    return b"\0".join([*texts, b""])


def encode_variables(call: ShellCall) -> list[bytes]:
    """Return the texts that set a call's variables: name, then `=`, `+` or the number of items, then the values."""
    texts: list[bytes] = []
    for variable, text in call.exported.items():
        texts += [variable, b"+", text]
    for name, value in call.variables.items():
        texts += (
            [name.encode(), b"=", value] if isinstance(value, bytes) else [name.encode(), b"%d" % len(value), *value]
        )
    return texts
