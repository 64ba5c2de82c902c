"""A self-contained file for Windows: a launcher, the embeddable Python, and the archive of the server.

What imports what is read in the sources of the library of the Python that runs this compiler, since the embeddable one
has bytecode only: both must have the same minor version.

The launcher unpacks Python once for all files with the same Python, and starts the archive with it.
"""

from __future__ import annotations

import io
import sys
import sysconfig
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mcpc.emit.templates import template_text
from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.interpreters.launchers.windows_interpreter import (
    LICENCE,
    PROGRAM,
    UnusableInterpreterError,
    bundled_interpreter,
    read_embeddable,
)
from mcpc.interpreters.selfcontained.components import FOLDER, EmbeddedPython, server_entries, with_manifest
from mcpc.interpreters.selfcontained.import_closure import imported_modules, library_closure
from mcpc.interpreters.selfcontained.library import LEVEL, OF_POSIX, library_modules
from mcpc.interpreters.selfcontained.request import CannotEmbedError, EmbeddingRequest
from mcpc.pack.archive import build_archive

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mcpc.interpreters.launchers.windows_interpreter import EmbeddablePython


MACHINES = {"win_amd64": "x64", "win_arm64": "arm64"}


def embed_server(request: EmbeddingRequest) -> bytes:
    """Return the self-contained file of a server."""
    machine = MACHINES[request.target]
    try:
        python = read_embeddable(request.interpreter, machine)
    except UnusableInterpreterError as problem:
        raise CannotEmbedError("MCP430", str(problem), problem.hint) from None
    entries = server_entries(request.archive)
    if request.minimal:
        python = minimal_python(python, entries)
    entries[f"{FOLDER}cpython.txt"] = python.licence
    files = {name: data for name, data in python.files.items() if name != LICENCE}
    embedded = EmbeddedPython(request.target, f"3.{python.minor}", request.minimal, "python", files)
    archive = build_archive(with_manifest(entries, embedded), "")
    return windows_file(archive, machine, PythonChoice((python.minor,)), bundled_interpreter(python))


EXTENSION, DLL = ".pyd", ".dll"
RUNTIME_DLLS = ("python3", "vcruntime")
"""How the names of libraries begin that every Python needs, and that machine code of packages may need."""
STARTING = ("hashlib", "os", "site", "zipimport")
"""Modules that Python imports before a server; beside them all encodings of texts, since each country has its own."""
ENCODINGS = "encodings."
OTHER_CODECS = frozenset(
    {f"encodings.{name}" for name in ("base64_codec", "bz2_codec", "hex_codec", "idna", "quopri_codec", "uu_codec")}
)
"""Codecs of other things than texts, which are included if something imports them."""
UNPACKING = "unpack.py"
MOMENT = (1980, 1, 1, 0, 0, 0)


def minimal_python(python: EmbeddablePython, entries: Mapping[str, bytes]) -> EmbeddablePython:
    """Return the files of an embeddable Python without what the server of these entries does not import."""
    if python.minor != sys.version_info.minor:
        message = f"the library of Python 3.{python.minor} cannot be reduced by Python 3.{sys.version_info.minor}"
        raise CannotEmbedError("MCP430", message, f"run mcpc with Python 3.{python.minor}, or leave out this option")
    library = f"python3{python.minor}.zip"
    paths = module_paths(python.files[library])
    sources = library_modules(Path(sysconfig.get_path("stdlib")), OF_POSIX)
    modules = {name: row for name, row in sources.items() if name in paths}
    extensions = {name: bool(libraries_of(data, python.files)) for name, data in machine_code(python.files).items()}
    code = {**entries, UNPACKING: template_text("unpack_interpreter.py")}
    roots = imported_modules(code, {*modules, *extensions})
    encodings = {name for name in modules if name.startswith(ENCODINGS)} - OTHER_CODECS
    needed = library_closure({*roots, *STARTING, *encodings}, modules, extensions)
    kept = {paths[name] for name in needed & paths.keys()}
    files = {name: data for name, data in python.files.items() if is_kept(name, needed, python.files)}
    return replace(python, files={**files, library: reduced_archive(python.files[library], kept)})


def module_paths(archive: bytes) -> dict[str, str]:
    """Return the path of each module in the archive of the library."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        paths = [PurePosixPath(name) for name in packed.namelist() if name.endswith(".pyc")]
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): str(path) for path in paths}


def machine_code(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the extension modules by their names."""
    return {name.removesuffix(EXTENSION): data for name, data in files.items() if name.endswith(EXTENSION)}


def libraries_of(data: bytes, files: Mapping[str, bytes]) -> list[str]:
    """Return the libraries that an extension module loads, of those that are not loaded anyway: it names them."""
    # Machine code has the names of the libraries that it loads as plain texts, in any case of letters.
    others = (name for name in files if name.endswith(DLL) and not name.startswith(RUNTIME_DLLS))
    return [name for name in others if name.lower().encode() in data.lower()]


def is_kept(name: str, needed: Collection[str], files: Mapping[str, bytes]) -> bool:
    """Tell whether a file beside `python.exe` is needed with these modules."""
    if name.endswith(EXTENSION):
        # The other files are inflated with zlib, whether the server needs it or not.
        return name.removesuffix(EXTENSION) in needed or name == "zlib.pyd"
    if name.endswith(DLL) and not name.startswith(RUNTIME_DLLS):
        kept = [data for module, data in machine_code(files).items() if module in needed]
        return any(name.lower().encode() in data.lower() for data in kept)
    return not name.endswith(".exe") or name == PROGRAM


def reduced_archive(archive: bytes, kept: Collection[str]) -> bytes:
    """Return the archive of the library with these files only."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as packed, zipfile.ZipFile(buffer, "w") as reduced:
        for name in sorted(kept):
            entry = zipfile.ZipInfo(name, MOMENT)
            # Else an entry names the system that wrote it, and the same files make other bytes there.
            entry.create_system = 0
            reduced.writestr(entry, packed.read(name), zipfile.ZIP_DEFLATED, LEVEL)
    return buffer.getvalue()
