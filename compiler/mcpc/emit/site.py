"""A layer of packages as entries of a folder: their files, bytecode beside what is imported as it lies, an index.

Packages hardly ever change between two builds, and compiling pydantic takes longer than all the rest: their bytecode is
kept.  What is extracted before it is imported has none: the interpreter that imports it writes its own beside it.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.emit import bytecode
from mcpc.emit.module import Module
from mcpc.kept import keep, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.ir import Layer, Server

SITE, SERVING = "site", "serving"
INDEX = ".layer.json"
"""Read by `mcpc_runtime.layer`; not a name that could be imported, as none that begins with a dot is."""
NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""How a file says that this Python cannot read it: packages may have some for another one."""
ASGI = b'''"""The server as an ASGI application: PYTHONPATH=server.pyz granian --interface asgi mcpc_app.asgi:app"""

from mcpc_runtime.http.asgi import application

app = application(__loader__.archive)
'''


def site_modules(server: Server) -> tuple[Module, ...]:
    """Return the packages that handlers find, nothing for a server that carries none."""
    return layer_modules(server.layer, SITE) if server.layer is not None else ()


def serving_modules(server: Server) -> tuple[Module, ...]:
    """Return what the server itself needs beside the runtime, nothing for one that needs no more."""
    if server.serving is None:
        return ()
    has_http = "uvicorn" in server.serving.modules
    asgi = (Module("mcpc_app/asgi.py", ASGI, python=True),) if has_http else ()
    return *asgi, *layer_modules(server.serving, SERVING)


def layer_modules(layer: Layer, folder: str) -> tuple[Module, ...]:
    """Return a layer's packages, to be put into a folder of the archive."""
    index = json.dumps(layer.index, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    files = {f"{folder}/{INDEX}": index, **{f"{folder}/{path}": data for path, data in layer.files.items()}}
    imported = {name: data for name, data in files.items() if is_imported(name)}
    return tuple(Module(name, data) for name, data in sorted({**files, **compiled(imported)}.items()))


def is_imported(name: str) -> bool:
    """Tell whether a file is Python that is imported out of the archive."""
    return name.endswith(".py") and not name.startswith((f"{SITE}/.", f"{SERVING}/."))


def compiled(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the bytecode of the files that this Python can read, by their names beside the sources."""
    name = digest_of(sources)
    kept = load("bytecode", name)
    if kept is None:
        kept = marshal.dumps(dict(compiled_now(sources)))
        keep("bytecode", name, kept)
    found: dict[str, bytes] = marshal.loads(kept)
    return found


def compiled_now(sources: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the bytecode of each file that is Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in sources.items():
            try:
                code = bytecode.code_of(data, f"server.pyz/{name}", strip=False)
            except NO_PYTHON:
                continue
            yield f"{name}c", bytecode.pyc(code, data)


def digest_of(sources: Mapping[str, bytes]) -> str:
    """Return the digest of all that decides the bytecode: the sources, this Python, and how it is made."""
    summary = hashlib.sha256(f"{sys.version}\0".encode() + Path(bytecode.__file__).read_bytes())
    for name, data in sorted(sources.items()):
        summary.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\0".encode())
    return summary.hexdigest()
