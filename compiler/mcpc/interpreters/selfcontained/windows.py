"""A self-contained file for Windows: a launcher, the embeddable Python, and the archive of the server.

The launcher unpacks Python once for all files with the same Python, and starts the archive with it.
"""

from __future__ import annotations

from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.interpreters.launchers.windows_interpreter import (
    LICENCE,
    UnusableInterpreterError,
    bundled_interpreter,
    read_embeddable,
)
from mcpc.interpreters.selfcontained.embeddable_library import minimal_python
from mcpc.interpreters.selfcontained.interpreter_components import EmbeddedPython
from mcpc.interpreters.selfcontained.licences import FOLDER
from mcpc.interpreters.selfcontained.request import CannotEmbedError, EmbeddingRequest
from mcpc.interpreters.selfcontained.server_archive import server_entries, with_manifest
from mcpc.pack.archive import build_archive

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
