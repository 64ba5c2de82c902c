"""What a built file needs of its machine, by its first bytes: a Python, a shell, or only a system and a processor."""

from __future__ import annotations

from dataclasses import dataclass

from mcpc.interpreters.launchers.windows_file import LENGTH, MAGIC
from mcpc.interpreters.selfcontained.relocatable_file import SYSTEMS

HEADER_BYTES = 1 << 16
"""Where the script of a self-contained file names the systems that run it."""
ELF, PE, SCRIPT = b"\x7fELF", b"MZ", b"#!"
ELF_MACHINES = {62: "amd64", 183: "arm64"}
PE_MACHINES = {0x8664: "amd64", 0xAA64: "arm64"}
TARGETS = {
    "linux_x86_64": ("linux", "amd64"),
    "linux_aarch64": ("linux", "arm64"),
    "macosx_x86_64": ("darwin", "amd64"),
    "macosx_arm64": ("darwin", "arm64"),
}
DIGEST_FIELD, MAX_RECORD = 5, 1 << 24
"""The field of the record of a program for Windows that has the digest of its Python, and the longest record."""
LINUX, WINDOWS, MACOS = "linux", "win32", "darwin"
"""Systems, by the names of Node and of bundles."""


@dataclass(frozen=True, slots=True)
class ProgramTarget:
    """The system and the processor of a program.

    `is_script`: a shell starts it, which unpacks its Python.  `needs_python`: it looks for a Python of the machine.
    Any other program runs on a bare kernel.
    """

    system: str
    machine: str
    is_script: bool = False
    needs_python: bool = False


def program_target(data: bytes) -> ProgramTarget | None:
    """Return the target of a self-contained file or a program for Windows; None for a file that any Python runs."""
    if data.startswith(ELF):
        machine = ELF_MACHINES.get(int.from_bytes(data[18:20], "little"))
        return ProgramTarget(LINUX, machine) if machine else None
    if data.startswith(PE):
        header = int.from_bytes(data[0x3C:0x40], "little")
        machine = PE_MACHINES.get(int.from_bytes(data[header + 4 : header + 6], "little"))
        return ProgramTarget(WINDOWS, machine, needs_python=not has_interpreter(data)) if machine else None
    if data.startswith(SCRIPT):
        beginning = data[:HEADER_BYTES].decode("utf-8", "replace")
        for target, pattern in SYSTEMS.items():
            if f"{pattern})" in beginning:
                return ProgramTarget(*TARGETS[target], is_script=True)
    return None


def has_interpreter(program: bytes) -> bool:
    """Tell whether a program for Windows contains Python: its record has the digest of one."""
    place = program.find(MAGIC)
    while place >= 0:  # the launcher has these bytes, too, by which it finds its record
        start = place + len(MAGIC) + LENGTH.size
        (length,) = LENGTH.unpack_from(program.ljust(start), place + len(MAGIC))
        fields = program[start : start + length].decode("utf-16-le", "replace").split("\0")
        if length <= MAX_RECORD and len(fields) > DIGEST_FIELD + 1 and fields[0].isdigit():
            return bool(fields[DIGEST_FIELD])
        place = program.find(MAGIC, place + 1)
    return False
