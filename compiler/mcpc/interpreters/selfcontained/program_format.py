"""Facts of a program file for Linux or macOS: its system, its machine, and the libraries that it needs.

Only the headers are read, so that a build does not need the other system or its tools. A library's name with a folder
is where it is expected; one without is looked for in the file's own search path, then in the system's.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ELF, MACH_O = b"\x7fELF", b"\xcf\xfa\xed\xfe"
ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
MACH_O_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64"}
DYNAMIC = 2
NEEDED, STRINGS, RPATH, RUNPATH, END = 1, 5, 15, 29, 0
LOAD = 1
LOAD_DYLIB, LOAD_WEAK_DYLIB, REEXPORT_DYLIB = 0xC, 0x80000018, 0x8000001F
MACH_RPATH = 0x8000001C
LIBRARY_COMMANDS = frozenset({LOAD_DYLIB, LOAD_WEAK_DYLIB, REEXPORT_DYLIB})


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """The target that runs a file (as `linux_x86_64`), the libraries it needs, and the folders where it looks for them.

    A machine that no target has is given as its number.
    """

    target: str
    needed: tuple[str, ...] = ()
    search: tuple[str, ...] = ()


def read_program(data: bytes) -> ProgramFacts | None:
    """Return the facts of a program or a shared object; None for any other file, also for a damaged one."""
    try:
        if data[:4] == ELF and data[4:6] == b"\x02\x01":
            return read_elf(data)
        if data[:4] == MACH_O:
            return read_mach_o(data)
    except (struct.error, ValueError, IndexError):
        return None
    return None


def read_elf(data: bytes) -> ProgramFacts:
    """Return the facts of a 64-bit little-endian ELF file."""
    (machine,) = struct.unpack_from("<H", data, 18)
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<I4x5Q", data, table + size * number) for number in range(count)]
    target = f"linux_{ELF_MACHINES.get(machine, machine)}"
    dynamic = next((segment for segment in segments if segment[0] == DYNAMIC), None)
    if dynamic is None:
        return ProgramFacts(target)
    rows = list(dynamic_rows(data, dynamic[1], dynamic[4]))
    address = dict(rows)[STRINGS]
    place = next(
        offset + address - start
        for kind, offset, start, _, length, _ in segments
        if kind == LOAD and start <= address < start + length
    )

    def texts(*kinds: int) -> list[str]:
        return [text_at(data, place + value) for kind, value in rows if kind in kinds]

    search = (folder for text in texts(RPATH, RUNPATH) for folder in text.split(":"))
    return ProgramFacts(target, tuple(texts(NEEDED)), tuple(search))


def dynamic_rows(data: bytes, start: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of a dynamic section: kind and value."""
    for place in range(start, start + length, 16):
        kind, value = struct.unpack_from("<QQ", data, place)
        if kind == END:
            return
        yield kind, value


def read_mach_o(data: bytes) -> ProgramFacts:
    """Return the facts of a 64-bit Mach-O file of one machine."""
    (machine,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<I", data, 16)
    needed: list[str] = []
    search: list[str] = []
    place = 32
    for _ in range(count):
        kind, size = struct.unpack_from("<II", data, place)
        if kind in LIBRARY_COMMANDS or kind == MACH_RPATH:
            (offset,) = struct.unpack_from("<I", data, place + 8)
            (search if kind == MACH_RPATH else needed).append(text_at(data, place + offset))
        place += size
    return ProgramFacts(f"macosx_{MACH_O_MACHINES.get(machine, machine)}", tuple(needed), tuple(search))


def text_at(data: bytes, place: int) -> str:
    """Return the text up to the next zero byte."""
    return data[place : data.index(b"\0", place)].decode(errors="replace")
