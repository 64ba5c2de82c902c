"""Put the launcher for Windows before an archive, with the record that tells it what to start (`windows/record.c`).

Importers find an archive behind a program even if its offsets count from the archive's own beginning, but not every
program that reads archives does.

    launcher, "MCPCEXE1", length of the record, record, files of an interpreter, archive

Numbers in the record have a fixed width, so that its length does not depend on the places that it names.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.pack.prologue import START

if TYPE_CHECKING:
    from collections.abc import Sequence


MACHINES = {"x64": "x64.exe", "arm64": "arm64.exe"}
"""The launcher of each machine."""
MAGIC = b"MCPCEXE1"
LENGTH = struct.Struct("<L")
WIDTH = 12
REQUIRED = "Python 3.11 or newer"


@dataclass(frozen=True, slots=True)
class PythonChoice:
    """Which Pythons start a file: the minor versions of its bytecode, best first, and whether no other one may."""

    minors: tuple[int, ...]
    is_only: bool = False

    @property
    def required(self) -> str:
        """What is required, for messages."""
        return " or ".join(f"Python 3.{minor}" for minor in self.minors) if self.is_only else REQUIRED


@dataclass(frozen=True, slots=True)
class InterpreterFile:
    """A file of a bundled interpreter: its data as stored, and whether the launcher or Python unpacks it."""

    name: str
    size: int
    sha256: str
    stored: bytes
    is_deflated: bool


@dataclass(frozen=True, slots=True)
class BundledInterpreter:
    """An interpreter that a file contains: its digest, its files, and the script that unpacks and verifies them."""

    digest: str
    files: tuple[InterpreterFile, ...]
    script: bytes


def launcher_of(machine: str) -> bytes:
    """Return the launcher for a machine."""
    return (Path(__file__).parent / "windows" / MACHINES[machine]).read_bytes()


def windows_file(
    archive: bytes, machine: str, choice: PythonChoice, interpreter: BundledInterpreter | None = None
) -> bytes:
    """Return an archive as a program for Windows."""
    launcher = launcher_of(machine)
    # A first pass gives the length of the record, with which the second one knows all places.
    draft = record(choice, interpreter, 0, 0)
    place = len(launcher) + len(draft)
    payload = interpreter_payload(interpreter, place)
    size = len(replace_prefix(archive, b"")) + place + len(payload)
    return replace_prefix(archive, launcher + record(choice, interpreter, place, size) + payload)


def record(choice: PythonChoice, interpreter: BundledInterpreter | None, place: int, size: int) -> bytes:
    """Return the record of a file of `size` bytes whose interpreter begins at `place`."""
    fields = [
        f"{size:0{WIDTH}}",
        " ".join(map(str, choice.minors)),
        "1" if choice.is_only else "",
        START,
        choice.required,
        *(interpreter_fields(interpreter, place) if interpreter else ("", "", "")),
    ]
    # The launcher calls functions of Windows, which take UTF-16.
    text = "".join(f"{field}\0" for field in fields).encode("utf-16-le")
    return MAGIC + LENGTH.pack(len(text)) + text


def interpreter_fields(interpreter: BundledInterpreter, place: int) -> tuple[str, str, str]:
    """Return the fields about a bundled interpreter: its digest, the code that unpacks it, and its files."""
    # Blanks in front, not zeros: Python reads no number with zeros in front.
    unpack = f"import sys;f=open(sys.argv[1],'rb');f.seek({place:{WIDTH}});exec(f.read({len(interpreter.script)}))"
    rows = zip(interpreter.files, file_places(interpreter, place), strict=True)
    lines = (f"{file.name}\t{file.size}\t{0 if file.is_deflated else start:0{WIDTH}}\n" for file, start in rows)
    return interpreter.digest, unpack, "".join(lines)


def interpreter_payload(interpreter: BundledInterpreter | None, place: int) -> bytes:
    """Return what is at `place`: the script, the table that it reads behind itself, and the files."""
    if interpreter is None:
        return b""
    table = unpacking_table(interpreter.files, file_places(interpreter, place))
    return b"".join((interpreter.script, table, *(file.stored for file in interpreter.files)))


def unpacking_table(files: Sequence[InterpreterFile], places: Sequence[int]) -> bytes:
    """Return the table of files for the script; an empty line ends it."""
    rows = (
        (
            file.name,
            f"{place:0{WIDTH}}",
            str(len(file.stored)),
            "deflated" if file.is_deflated else "stored",
            file.sha256,
        )
        for file, place in zip(files, places, strict=True)
    )
    return "".join("\t".join(row) + "\n" for row in rows).encode() + b"\n"


def file_places(interpreter: BundledInterpreter, place: int) -> list[int]:
    """Return where each file of an interpreter is stored."""
    table = unpacking_table(interpreter.files, [0] * len(interpreter.files))
    place += len(interpreter.script) + len(table)
    places = []
    for file in interpreter.files:
        places.append(place)
        place += len(file.stored)
    return places


# The end of the directory (APPNOTE, 4.3.16): signature, entries, the directory's length and place, length of a comment.
END = struct.Struct("<4s6xH2LH")
END_SIGNATURE = b"PK\5\6"
# A row of the directory (APPNOTE, 4.3.12): lengths of name, extra field and comment, and the place of the entry.
ROW = struct.Struct("<28x3H8xL")
ROW_LENGTH, OFFSET_PLACE = 46, 42
LIMIT = 1 << 32


def replace_prefix(archive: bytes, prefix: bytes) -> bytes:
    """Return an archive with `prefix` in place of what is before its first entry."""
    signature, count, size, start, comment = END.unpack_from(archive, len(archive) - END.size)
    if (signature, comment, start + size) != (END_SIGNATURE, 0, len(archive) - END.size):
        raise ValueError("not a zip archive as mcpc writes it")
    offsets = directory_offsets(archive, start, count)
    first = min((offset for _, offset in offsets), default=start)
    moved = len(prefix) - first
    if len(archive) + moved >= LIMIT:
        raise ValueError("an archive of 4 GiB or more is not supported")
    changed = bytearray(archive)
    for place, offset in offsets:
        struct.pack_into("<L", changed, place, offset + moved)
    struct.pack_into("<L", changed, len(archive) - END.size + 16, start + moved)
    return prefix + bytes(changed[first:])


def directory_offsets(archive: bytes, start: int, count: int) -> list[tuple[int, int]]:
    """Return where the directory has the offset of each entry, and that offset."""
    offsets = []
    place = start
    for _ in range(count):
        name, extra, comment, offset = ROW.unpack_from(archive, place)
        offsets.append((place + OFFSET_PLACE, offset))
        place += ROW_LENGTH + name + extra + comment
    return offsets
