"""A self-contained file for Linux: an ELF executable with the interpreter, and behind it the archive of the server.

The archive has the standard library as entries below `python/`, so that whatever reads archives reads this file.
Between executable and archive is the start table, by which the start finds everything without reading the directory.
"""

from __future__ import annotations

import io
import marshal
import platform
import sys
import tempfile
import zipfile
import zipimport
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump_code, dump_data, stripped_source
from mcpc.emit.generated_modules import SOURCES as VALIDATOR_SOURCES
from mcpc.emit.templates import template_text
from mcpc.interpreters.selfcontained import relocatable_file
from mcpc.interpreters.selfcontained.components import (
    FOLDER,
    EmbeddedPython,
    library_files,
    licence_entries,
    server_entries,
    with_manifest,
)
from mcpc.interpreters.selfcontained.executable import FROZEN_MODULES, build_executable, running_interpreter
from mcpc.interpreters.selfcontained.import_closure import imported_modules, library_closure
from mcpc.interpreters.selfcontained.library import LEVEL, cached_library, deflate, library_modules
from mcpc.interpreters.selfcontained.relocatable_file import NATIVE
from mcpc.interpreters.selfcontained.request import CannotEmbedError
from mcpc.interpreters.selfcontained.shared_objects import collect_shared_objects, interpreter_functions, tool_output
from mcpc.pack.archive import ArchiveEntry, build_archive
from mcpc_runtime import BYTECODE, HEAD, OTHER_PYTHONS, SOURCES
from mcpc_runtime.artifact.bytecode_compilation import modules_entry
from mcpc_runtime.transports.platforms import PLATFORMS, POSIX

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType

    from mcpc.interpreters.selfcontained.request import EmbeddingRequest
    from mcpc.interpreters.selfcontained.shared_objects import SharedObject, SharedObjects

LIBRARY, SHARED_OBJECTS = "python/library", "python/shared-objects"
MARKER = b"mcpc start table is at\n\0"
RUNTIME_FUNCTIONS = frozenset({"mallopt", "memfd_create", "prctl", "sigaction"})
"""Functions of the C library that the runtime finds by name."""
STORED_OBJECTS = frozenset({"_json", "zlib"})
"""Extension modules that are needed before anything can be inflated, or at every start."""


def embed_server(request: EmbeddingRequest) -> bytes:
    """Return the self-contained file of a server."""
    if request.interpreter is not None:
        return relocatable_file.embed_server(request)
    if request.target != f"linux_{platform.machine()}" or platform.system() != "Linux":
        hint = "build it on such a machine, or name a relocatable Python for it: --interpreter FOLDER|ARCHIVE"
        raise CannotEmbedError("MCP430", f"the interpreter of this machine does not run on {request.target}", hint)
    entries = server_entries(request.archive)
    refuse_native_packages(entries)
    interpreter = running_interpreter()
    objects = collect_shared_objects(interpreter, sys.builtin_module_names)
    symbols = objects.symbols | interpreter_functions(interpreter) | RUNTIME_FUNCTIONS
    executable = build_executable(interpreter, symbols)
    bundle = start_bundle(entries["__main__.pyc"])
    modules = library_modules(interpreter.standard_library)
    if request.minimal:
        left_out = other_adapters("linux")
        roots = imported_modules(entries, {*modules, *objects.modules}, left_out)
        needed = library_closure(roots, modules, objects.extensions)
        modules = {name: row for name, row in modules.items() if name in needed}
        objects = objects.only(needed)
        # What only another Python would read is left out.
        kept = {name: data for name, data in entries.items() if name not in FOR_OTHER_PYTHONS}
        runtime = deflated_bytecode(entries[BYTECODE], entries[SOURCES], left_out)
        entries = {**kept, BYTECODE: runtime, "__main__.py": template_text("minimal_main.py")}
    # The executable has these already.
    modules = {name: row for name, row in modules.items() if name not in FROZEN_MODULES}
    data, extensions = shared_object_entry(objects)
    entries[LIBRARY] = cached_library(modules, ())
    entries[SHARED_OBJECTS] = data
    entries.update(licence_entries(interpreter, objects))
    python = interpreter.full_version
    embedded = EmbeddedPython(request.target, python, request.minimal, LIBRARY, libraries=library_files(objects))
    return with_start_table(executable, with_manifest(entries, embedded), (bundle, extensions))


def other_adapters(system: str) -> tuple[str, ...]:
    """Return the folders of the runtime's adapters to other systems than this one (as `sys.platform`)."""
    own = PLATFORMS.get(system, POSIX)
    return tuple(f"{row[0].replace('.', '/')}/" for row in (POSIX, *PLATFORMS.values()) if row != own)


def deflated_bytecode(entry: bytes, sources: bytes, left_out: tuple[str, ...]) -> bytes:
    """Return the runtime's modules with each of them deflated, so that an import inflates what it needs.

    Modules without bytecode, which are compiled when they are used, take that of the archive of sources.
    """
    end = HEAD + int.from_bytes(entry[HEAD - 4 : HEAD], "little")
    rows: dict[str, tuple[bool, int, int]] = marshal.loads(entry[HEAD:end])
    with zipfile.ZipFile(io.BytesIO(sources)) as texts:
        bodies = {
            file: zlib.compress(entry[start : start + length] or stripped_source(texts.read(file)), LEVEL)
            for name, (is_package, start, length) in rows.items()
            for file in [f"{name.replace('.', '/')}{'/__init__' * is_package}.py"]
            if not file.startswith(left_out)
        }
    return modules_entry(entry[: HEAD - 4], dict(sorted(bodies.items())))


def refuse_native_packages(entries: Mapping[str, bytes]) -> None:
    """Refuse packages with machine code: a static executable does not load it."""
    for name in entries.keys() & NATIVE:
        with zipfile.ZipFile(io.BytesIO(entries[name])) as packed:
            native = sorted(file for file in packed.namelist() if file.endswith(".so") or ".so." in file)
        if native:
            package = native[0].partition("/")[0]
            message = f"the package {package} has machine code, which a self-contained file cannot load"
            raise CannotEmbedError("MCP432", message, "name a relocatable Python (--interpreter)")


def shared_object_entry(objects: SharedObjects) -> tuple[bytes, dict[str, object]]:
    """Return the entry of the shared objects, and the table of where each is in it."""
    stored = needed_early(objects)
    rows: dict[str, tuple[int, int, bool, tuple[str, ...]]] = {}
    bodies: list[bytes] = []
    offset = 0
    for name, file in objects.files.items():
        body = stripped(file)
        body = body if name in stored else deflate(body)
        rows[name] = offset, len(body), name not in stored, tuple(sorted(set(file.needed) & objects.files.keys()))
        offset += len(body)
        bodies.append(body)
    return b"".join(bodies), {"modules": dict(objects.modules), "files": rows}


def stripped(file: SharedObject) -> bytes:
    """Return a shared object without what only debuggers read."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        path = Path(folder, file.name)
        tool_output("strip", "--strip-all", "-o", str(path), str(file.path))
        return path.read_bytes()


def needed_early(objects: SharedObjects) -> frozenset[str]:
    """Return the shared objects that are not deflated."""
    waiting = [objects.modules[name] for name in sorted(STORED_OBJECTS & objects.modules.keys())]
    names: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in objects.files and name not in names:
            names.add(name)
            waiting += objects.files[name].needed
    return frozenset(names)


def with_start_table(executable: bytes, entries: list[ArchiveEntry], start: tuple[bytes, dict[str, object]]) -> bytes:
    """Return the file: executable, start table, archive. The table's length does not depend on the offsets in it.

    `start`: the modules of the start path, and the table of shared objects.
    """
    bundle, extensions = start
    deflated = DEFLATED | {entry.name for entry in entries if entry.name.startswith((FOLDER, VALIDATOR_SOURCES))}
    # Built alone first, to know where its entries are; the table in front of it moves them all by `shift`.
    archive = build_archive(entries, "", deflated=deflated)
    directory = archive_directory(archive)

    def table(shift: int) -> bytes:
        moved = {name: row and (*row[:3], row[3] + shift, *row[4:]) for name, row in directory.items()}
        places = {name: (data_offset(archive, directory[name][3]) + shift, directory[name][2]) for name in DATA}
        data = dump_data((moved, places, extensions))
        return b"".join((len(data).to_bytes(4, "little"), data, bundle))

    shift = len(executable) + len(table(0))
    start_table = table(shift)
    place = executable.index(MARKER) + len(MARKER)
    patched = bytearray(executable)
    # Behind the marker the executable has room for two numbers: where the table is, and how long.
    patched[place : place + 16] = len(executable).to_bytes(8, "little") + len(start_table).to_bytes(8, "little")
    return build_archive(entries, bytes(patched) + start_table, deflated=deflated)


DEFLATED = frozenset({SOURCES})
"""Entries that only another Python would read, or people."""
FOR_OTHER_PYTHONS = frozenset({"__main__.pyc", "__start__.py", OTHER_PYTHONS, SOURCES})
"""Entries by which another Python would start the file."""
DATA = (LIBRARY, SHARED_OBJECTS)


def archive_directory(archive: bytes) -> dict[str, tuple[int, ...]]:
    """Return the directory of an archive as the interpreter's importer keeps it, without the path of each file."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        path = Path(folder, "archive")
        path.write_bytes(archive)
        rows = zipimport._read_directory(str(path))  # type: ignore[attr-defined]
    return {name: row and tuple(row[1:]) for name, row in sorted(rows.items())}


def data_offset(archive: bytes, header: int) -> int:
    """Return where the data of an entry begins, by the place of its header."""
    # A header has 30 bytes (APPNOTE, 4.3.7), the last four for the lengths of name and extra field.
    lengths = archive[header + 26 : header + 30]
    return header + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")


def start_bundle(start: bytes) -> bytes:
    """Return the modules of the start path, from the bytecode of `__main__`."""
    # The first 16 bytes are the header of a `.pyc` (PEP 552).
    code: CodeType = marshal.loads(start[16:])
    bundle = next(value for value in code.co_consts if isinstance(value, tuple) and value and type(value[0]) is tuple)
    return dump_code(bundle)
