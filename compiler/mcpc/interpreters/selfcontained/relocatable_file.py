"""A self-contained file with a relocatable Python: a shell script, that Python packed, and the archive of the server.

The script (`templates/prologue_unpacking.sh`) unpacks Python once for all files with the same one. The Python is
dynamically linked, so packages with machine code work; and it is never run here, so a file for another machine or
system can be built.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

from mcpc.emit.generated_modules import SOURCES
from mcpc.emit.templates import template_text
from mcpc.interpreters.launchers.windows_file import replace_prefix
from mcpc.interpreters.selfcontained.components import FOLDER, EmbeddedPython, server_entries, with_manifest
from mcpc.interpreters.selfcontained.import_closure import imported_modules, library_closure
from mcpc.interpreters.selfcontained.relocatable import read_program, relocatable_python
from mcpc.interpreters.selfcontained.request import CannotEmbedError
from mcpc.pack.archive import build_archive, sha256_hex
from mcpc.pack.prologue import START

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.interpreters.selfcontained.relocatable import RelocatablePython
    from mcpc.interpreters.selfcontained.request import EmbeddingRequest

SYSTEMS = {
    "linux_x86_64": "'Linux x86_64' | 'Linux amd64'",
    "linux_aarch64": "'Linux aarch64' | 'Linux arm64'",
    "macosx_x86_64": "'Darwin x86_64'",
    "macosx_arm64": "'Darwin arm64'",
}
"""What `uname` prints on each target, as a pattern of the shell."""
EXAMPLE_TAGS = {
    "linux_x86_64": "manylinux_2_28_x86_64",
    "linux_aarch64": "manylinux_2_28_aarch64",
    "macosx_x86_64": "macosx_11_0_x86_64",
    "macosx_arm64": "macosx_11_0_arm64",
}
"""A tag of packages for each target."""
NATIVE = frozenset({"site/extracted.zip", "serving/extracted.zip"})
"""The entries that have packages' machine code."""
MOMENT = 315532800
"""1980-01-01, the time of every file."""
FILES, VERIFIER = "files.sha256", "verify.py"
STARTING = ("encodings.utf_8", "encodings.latin_1", "encodings.ascii", "hashlib", "os", "site", "zipimport")
"""Modules that an interpreter imports before a server, or with which it verifies itself."""


def embed_server(request: EmbeddingRequest) -> bytes:
    """Return the self-contained file of a server."""
    if request.interpreter is None:
        hint = "name a relocatable Python for it: --interpreter FOLDER|ARCHIVE"
        raise CannotEmbedError("MCP430", f"there is no Python for {request.target} here", hint)
    with relocatable_python(request.interpreter) as python:
        check_target(request, python)
        entries = server_entries(request.archive)
        check_version(entries, python, request)
        check_packages(entries, request.target)
        files = {path: place.read_bytes() for path, place in python.files.items()}
        if request.minimal:
            kept = minimal_files(entries, python)
            files = {path: data for path, data in files.items() if path in kept}
        entries.update({f"{FOLDER}{name}": place.read_bytes() for name, place in python.licences.items()})
    deflated = [name for name in entries if name.startswith((FOLDER, SOURCES))]
    embedded = EmbeddedPython(request.target, f"3.{python.minor}", request.minimal, f"python/{python.library}", files)
    return unpacking_file(build_archive(with_manifest(entries, embedded), "", deflated=deflated), files, python)


def check_target(request: EmbeddingRequest, python: RelocatablePython) -> None:
    """Refuse an interpreter for another system or machine."""
    if python.target != request.target:
        message = f"{request.interpreter} is for {python.target}, not for {request.target}"
        raise CannotEmbedError("MCP430", message, f"name one for {request.target}, or build for {python.target}")


def check_version(entries: Mapping[str, bytes], python: RelocatablePython, request: EmbeddingRequest) -> None:
    """Refuse an interpreter of another version than those that the server was compiled for."""
    built = str(json.loads(entries["META-INF/build.json"])["python"]["bytecode"])
    minors = {int(minor_text) for minor_text in re.findall(r"3\.(\d+)", built)} or {sys.version_info.minor}
    if python.minor not in minors:
        versions = " and ".join(f"3.{minor}" for minor in sorted(minors))
        message = f"{request.interpreter} is Python 3.{python.minor}, and the server is compiled for {versions}"
        hint = f"add --python 3.{python.minor}, or name a Python {versions}"
        raise CannotEmbedError("MCP430", message, hint)


def check_packages(entries: Mapping[str, bytes], target: str) -> None:
    """Refuse packages whose machine code is for other targets only."""
    for name in sorted(NATIVE & entries.keys()):
        with zipfile.ZipFile(io.BytesIO(entries[name])) as packed:
            files = [file for file in sorted(packed.namelist()) if ".so" in file or file.endswith(".dylib")]
            facts = [(file, program) for file in files if (program := read_program(packed.read(file)))]
        # A package may have code for several targets, of which the file needs one.
        if facts and all(program.target != target for _, program in facts):
            file, program = facts[0]
            message = f"the package {file.partition('/')[0]} has machine code for {program.target}"
            hint = f"add --platform with a tag of {target}, such as {EXAMPLE_TAGS[target]}"
            raise CannotEmbedError("MCP432", message, hint)


def minimal_files(entries: Mapping[str, bytes], python: RelocatablePython) -> frozenset[str]:
    """Return the files of an interpreter without the modules that a server does not import."""
    modules, extensions = python.modules, python.extensions
    known = {*modules, *extensions}
    roots = imported_modules(entries, known)
    # Whether an extension module needs other libraries is not asked: where they are missing, it would not be imported.
    needed = library_closure({*roots, *STARTING}, modules, dict.fromkeys(extensions, False))
    folder = f"{python.library}/"
    library = {path for path in python.files if path.startswith(folder)}
    paths = {place: path for path, place in python.files.items()}
    kept = {paths[place] for name, (_, place) in modules.items() if name in needed and place in paths}
    return frozenset((python.files.keys() - library) | kept | {extensions[name] for name in needed & extensions.keys()})


def unpacking_file(archive: bytes, files: dict[str, bytes], python: RelocatablePython) -> bytes:
    """Return the file: script, packed interpreter, archive."""
    lines = "".join(f"{sha256_hex(data)}  {path}\n" for path, data in sorted(files.items()))
    digest = hashlib.sha256(lines.encode()).hexdigest()
    packed = packed_files({**files, FILES: lines.encode(), VERIFIER: template_text("verify_interpreter.py")})
    values = {
        "BOOT": START,
        "DIGEST": digest,
        "LENGTH": str(len(packed)),
        "PYTHON": python.program,
        "SYSTEM": SYSTEMS[python.target],
        "TARGET": python.target,
    }
    script = template_text("prologue_unpacking.sh").decode()
    script = re.sub(rf"\b(?:{'|'.join(values)})\b", lambda match: values[match[0]], script)
    return replace_prefix(archive, placed_script(script).encode() + packed)


def placed_script(script: str) -> str:
    """Return the script with the place of what follows it, which depends on the script's own length."""
    place = ""
    # The place has digits of its own, and `tail -c +N` counts from 1: repeated until both numbers agree.
    while place != (place := str(len(script) - len("START") + len(place) + 1)):
        pass
    return re.sub(r"\bSTART\b", place, script)


def packed_files(files: Mapping[str, bytes]) -> bytes:
    """Return a compressed tar of files, the same for the same files."""
    buffer = io.BytesIO()
    with (
        # Without time and name in the header, the same files make the same bytes.
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0, filename="") as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as packed,
    ):
        for path, data in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.size, member.mtime = len(data), MOMENT
            member.mode = 0o755 if path.startswith("bin/") else 0o644
            packed.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
