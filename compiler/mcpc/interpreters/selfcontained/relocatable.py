"""A relocatable CPython that the user names: its files, version and target, found without running it.

Only the headers are read, so that a build does not need the other system or its tools. A library's name with a folder
is where it is expected; one without is looked for in the file's own search path, then in the system's.

Its layout is `bin/python3.N`, `lib/python3.N/…`, and `lib/libpython3.N.…` where the interpreter is no part of its
program, as in python-build-standalone, alone or below folders of an archive. What servers do not need is left out. The
program and the library of the interpreter may need the C library of the target, and files of the tree that they find
relative to themselves; extension modules may need other libraries, which a server then needs as well.
"""

from __future__ import annotations

import re
import struct
import tarfile
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mcpc.interpreters.selfcontained.library import LEFT_OUT_FOLDERS, LEFT_OUT_MODULES, library_modules
from mcpc.interpreters.selfcontained.request import CannotEmbedError
from mcpc.interpreters.selfcontained.shared_objects import C_LIBRARY, LEFT_OUT
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


PROGRAM = re.compile(r"python3\.(\d+)")
INTERPRETER_LIBRARY = re.compile(r"libpython3\.\d+\.(?:so\.1\.0|dylib)")
MUSL = re.compile(r"(?:libc|ld)[.-]musl-\w+\.so\.1|libc\.so")
SYSTEM_FOLDERS = ("/usr/lib/", "/System/Library/")
"""Where every macOS has libraries."""
RELATIVE = ("$ORIGIN", "${ORIGIN}", "@executable_path", "@loader_path", "@rpath")
LICENCE_NAMES = re.compile(r"LICENSE[\w.-]*|COPYING[\w.-]*", re.IGNORECASE)
LARGEST = 2_000_000_000
SECONDS = 300
HINT = (
    "name the folder or archive of a relocatable Python, as of python-build-standalone: with bin/python3.N and "
    "lib/python3.N in it (`uv python install`, then `uv python dir`)"
)


@dataclass(frozen=True, slots=True)
class RelocatablePython:
    """An interpreter: its minor version, its target, and its files: path in the tree, place on this machine."""

    minor: int
    target: str
    files: Mapping[str, Path]
    licences: Mapping[str, Path]

    @property
    def program(self) -> str:
        """The path of its program."""
        return f"bin/python3.{self.minor}"

    @property
    def modules(self) -> dict[str, tuple[bool, Path]]:
        """The Python modules of its library: whether each is a package, and its file."""
        return library_modules(self.files[f"{self.library}/os.py"].parent)

    @property
    def extensions(self) -> dict[str, str]:
        """The paths of its extension modules that are files, by module."""
        folder = f"{self.library}/lib-dynload/"
        return {Path(path).name.partition(".")[0]: path for path in self.files if path.startswith(folder)}

    @property
    def library(self) -> str:
        """The path of its library."""
        return f"lib/python3.{self.minor}"


@contextmanager
def relocatable_python(place: Path) -> Iterator[RelocatablePython]:
    """Give the interpreter in a folder or an archive; raise CannotEmbedError if there is none that can be moved."""
    with TemporaryDirectory(prefix="mcpc-") as temporary:
        folder = place if place.is_dir() else Path(temporary)
        if folder is not place:
            unpack(place, folder)
        yield read_tree(folder, place)


def unpack(place: Path, folder: Path) -> None:
    """Unpack an archive: a tar, also one that `zstd` compressed, or a zip."""
    try:
        if zipfile.is_zipfile(place):
            with zipfile.ZipFile(place) as packed:
                check_size(sum(member.file_size for member in packed.infolist()))
                packed.extractall(folder)
            return
        with tarfile.open(plain_tar(place, folder)) as packed:
            check_size(sum(member.size for member in packed))
            # The filter refuses members that lead out of the folder, devices, and links to elsewhere.
            packed.extractall(folder, filter="data")
    except (OSError, EOFError, ValueError, tarfile.TarError, zipfile.BadZipFile) as problem:
        raise CannotEmbedError("MCP430", f"{place} cannot be read: {problem}", HINT) from None


def plain_tar(place: Path, folder: Path) -> Path:
    """Return a tar that `tarfile` reads."""
    if place.suffix not in {".zst", ".tzst"}:
        return place
    plain = folder / "plain.tar"
    try:
        done = programs.run_program("linker", ["zstd", "-dqo", str(plain), "--", str(place.resolve())], SECONDS)
    except FileNotFoundError:
        hint = "install zstd, or name an archive that is compressed otherwise"
        raise CannotEmbedError("MCP430", f"{place} needs `zstd`, which is missing", hint) from None
    if done.returncode:
        raise OSError(done.stderr.decode(errors="replace").strip())
    return plain


def check_size(size: int) -> None:
    """Refuse what is too large to be an interpreter."""
    if size > LARGEST:
        raise ValueError("its files are too large")


def read_tree(folder: Path, place: Path) -> RelocatablePython:
    """Return the interpreter in a folder."""
    libraries = [
        path
        # The outermost one first: an archive may have others in deeper folders.
        for path in sorted(folder.glob("**/bin/python3.*"), key=lambda path: (len(path.parts), path))
        if PROGRAM.fullmatch(path.name) and path.is_file()
    ]
    root = next(
        (path.parents[1] for path in libraries if (path.parents[1] / "lib" / path.name / "os.py").is_file()), None
    )
    if root is None:
        raise CannotEmbedError("MCP430", f"{place} has no bin/python3.N with lib/python3.N", HINT)
    program = next(path for path in libraries if path.parents[1] == root)
    facts = read_program(program.read_bytes())
    if facts is None:
        message = f"{place} is damaged: {program.relative_to(folder)} is no program for a 64-bit Linux or macOS"
        raise CannotEmbedError("MCP430", message, HINT)
    files = {path.relative_to(root).as_posix(): path for path in included_files(root, program.name)}
    check_relocatable(place, files, facts)
    licences = {path.name: path for path in licence_files(root, program.name)}
    return RelocatablePython(int(program.name.rpartition(".")[2]), facts.target, dict(sorted(files.items())), licences)


def included_files(root: Path, name: str) -> Iterator[Path]:
    """Yield the files that become part of a server, as they are on disk."""
    yield root / "bin" / name
    library = root / "lib" / name
    for path in (root / "lib").iterdir():
        if path.is_file() and (INTERPRETER_LIBRARY.fullmatch(path.name) or ".so." in path.name):
            yield path
    for path in library.rglob("*"):
        parts = path.relative_to(library).parts
        # A symlink may lead to a file of this machine, which is no part of the interpreter.
        if path.is_file() and is_included(parts) and path.resolve().is_relative_to(root.resolve()):
            yield path


def is_included(parts: tuple[str, ...]) -> bool:
    """Tell whether a file of the library is included, by the parts of its path."""
    *folders, name = parts
    if folders == ["lib-dynload"]:
        return not LEFT_OUT.fullmatch(name.partition(".")[0])
    module = ".".join((*folders, name.removesuffix(".py")))
    return (
        name.isascii()
        and name.isprintable()
        and not LEFT_OUT_FOLDERS & set(folders)
        and not any(folder.startswith("config-") for folder in folders)
        and module not in LEFT_OUT_MODULES
        and not name.endswith((".pyc", ".a"))
    )


def check_relocatable(place: Path, files: Mapping[str, Path], facts: ProgramFacts) -> None:
    """Refuse an interpreter that needs files of the machine on which it was installed."""
    names = {Path(path).name for path in files}
    programs_of = [path for path in files if path.startswith("bin/") or INTERPRETER_LIBRARY.fullmatch(Path(path).name)]
    for path in programs_of:
        program = read_program(files[path].read_bytes())
        if program is None or program.target != facts.target:
            raise CannotEmbedError("MCP430", f"{place} is damaged: {path} is not for {facts.target}", HINT)
        for library in program.needed:
            if not is_provided(library, names, program):
                searched = f" in {':'.join(program.search)}" if program.search else ""
                message = f"{place} is not relocatable: {path} looks for {library}{searched}"
                raise CannotEmbedError("MCP430", message, HINT)


def is_provided(library: str, names: set[str], facts: ProgramFacts) -> bool:
    """Tell whether a needed library is the system's, or is found in the tree wherever that is."""
    folder, _, name = library.rpartition("/")
    if folder:
        return library.startswith((*SYSTEM_FOLDERS, *RELATIVE))
    if name in names:
        return any(text.startswith(RELATIVE) for text in facts.search)
    # `C_LIBRARY` also matches the library of Python, which no system need have.
    return bool((C_LIBRARY.fullmatch(name) and not INTERPRETER_LIBRARY.fullmatch(name)) or MUSL.fullmatch(name))


def licence_files(root: Path, name: str) -> Iterator[Path]:
    """Yield the licence texts of an interpreter, and of the libraries that are linked into it."""
    for folder in (root / "lib" / name, root / "licenses", root.parent / "licenses"):
        if folder.is_dir():
            yield from (path for path in folder.iterdir() if path.is_file() and LICENCE_NAMES.fullmatch(path.name))


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
    # Offsets in the header of ELF-64: the machine, the place of the program headers, their size and their number.
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
    # The texts are known by their address in memory, which a loaded segment maps to a place in the file.
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
