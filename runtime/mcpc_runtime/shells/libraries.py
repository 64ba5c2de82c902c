"""What a shell is given before it calls a function: its environment, and the texts it reads.

Its law: nothing of the environment decides how Bash reads a library or finds a command, but PATH.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from mcpc_runtime.commands import Completed, ShellCall
    from mcpc_runtime.host import Host

    class Given(Protocol):
        """What a shell is started with; `name` is what its messages begin with."""

        @property
        def name(self) -> str: ...
        def program(self, name: str) -> str: ...
        def environment(self, number: int, /) -> Mapping[bytes, bytes]: ...
        def texts(self, part: bytes = b"") -> list[bytes]: ...

    from mcpc_runtime.unpacking import folder as unpacking_folder
else:
    unpacking_folder = lazy("mcpc_runtime.unpacking:folder", "unpacking_folder")


PLACE = "mcpc_app/bash/"
LAUNCHER = "launcher.bash"
LINE = b": line "
"""What follows the place that a text was read from in Bash's messages: `/dev/fd/9`, with `/.` for each before it."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
VARIABLE_LIMIT = 100_000
"""Linux starts no program with a variable of more than 128 KiB: a longer one is the shell's own, and not exported."""
KEPT_OUT = frozenset(b"BASHOPTS BASH_ENV BASH_XTRACEFD CDPATH ENV GLOBIGNORE IFS POSIXLY_CORRECT PS4 SHELLOPTS".split())
KEPT_OUT_BEGIN = (b"BASH_FUNC_", b"mcpc_arg_")
"""Functions that somebody exported, and variables that would look like arguments."""


class Libraries:
    """The libraries of one server.  Entries of the archive are read once."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._entries: dict[str, bytes] = {}
        self._given = [(name.encode(), value.encode()) for name, value in host.image.index["environment"]]
        self._environments: dict[int, dict[bytes, bytes]] = {}

    @property
    def name(self) -> str:
        """What messages of a shell that reads all libraries begin with: the first one's name."""
        return str(self._host.image.index["shell"][0]).rpartition("/")[2]

    def program(self, name: str) -> str:
        """Return a text that Bash is started with."""
        return self._entry(PLACE + name).decode()

    def environment(self, number: int) -> dict[bytes, bytes]:
        """Return what a shell finds; not to be changed."""
        found = self._environments.get(number)
        if found is None:
            inherited = self._host.environment(number).items()
            found = {name: value for name, value in inherited if not is_kept_out(name)}
            found.update((name, value) for name, value in self._given if len(value) <= VARIABLE_LIMIT)
            self._environments[number] = found
        return found

    def texts(self, part: bytes = b"") -> list[bytes]:
        """Return what is read, in its order: the prelude, then `part`, or all libraries."""
        index = self._host.image.index
        large = b"".join(
            b"%b=%b\n" % (name, quoted(value)) for name, value in self._given if len(value) > VARIABLE_LIMIT
        )
        read = [self._entry(PLACE + name) for name in index["prelude"]]
        if large:
            read.append(large)
        if part:
            return [*read, part]
        if index.get("unpack"):  # a library asks where it lies
            folder: str = unpacking_folder(self._host.image)
            return [*read, *(b"source -- " + quoted(f"{folder}/{path}".encode()) for path in index["shell"])]
        return [*read, *(self._entry(f"handlers/{path}").removeprefix(BYTE_ORDER_MARK) for path in index["shell"])]

    def name_places(self, completed: Completed) -> Completed:
        """Put the names of the libraries where Bash's messages name the places they were read from: O(output)."""
        if LINE in completed.output:
            for field in ("output", "printed", "errors"):
                setattr(completed, field, self._named(getattr(completed, field)))
        return completed

    def _named(self, data: bytes) -> bytes:
        index = self._host.image.index
        names = [*index["prelude"], *(["mcpc"] if any(len(value) > VARIABLE_LIMIT for _, value in self._given) else [])]
        places = [(f"/dev/fd{'/.' * number}/9", name) for number, name in enumerate((*names, *index["shell"]))]
        if index.get("unpack"):
            folder: str = unpacking_folder(self._host.image)
            places += [(f"{folder}/{path}", path) for path in index["shell"]]
        for place, name in places:
            data = data.replace(place.encode() + LINE, name.encode("utf-8", "replace") + LINE)
        return data

    def _entry(self, name: str) -> bytes:
        if name not in self._entries:
            self._entries[name] = self._host.image.entry(name)
        return self._entries[name]


def is_kept_out(name: bytes) -> bool:
    """Tell whether a variable is not for a shell."""
    return name in KEPT_OUT or name.startswith(KEPT_OUT_BEGIN)


def quoted(value: bytes) -> bytes:
    """Return a text as one word of Bash: nothing in single quotes means anything but the quote that ends them."""
    return b"'" + value.replace(b"'", b"'\\''") + b"'"


def texts_of(pieces: list[bytes]) -> bytes:
    """Return texts as a shell reads them: each ends with a null byte."""
    return b"\0".join([*pieces, b""])


def variable_texts(call: ShellCall) -> list[bytes]:
    """Return the texts that make a call's variables: a name, `=`, `+` or how many items, then so many values."""
    pieces: list[bytes] = []
    for variable, text in call.exported.items():
        pieces += [variable, b"+", text]
    for name, value in call.variables.items():
        pieces += (
            [name.encode(), b"=", value] if isinstance(value, bytes) else [name.encode(), b"%d" % len(value), *value]
        )
    return pieces
