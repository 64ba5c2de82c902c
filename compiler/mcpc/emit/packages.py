"""Emit a layer of packages: its files, the bytecode of modules imported from the archive, and an index.

Packages seldom change between two builds, and compiling pydantic takes longer than the rest of a build: their bytecode
is cached. Extracted packages have their bytecode where an import looks for it, so that the first one need not compile.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.cache_dir import load_entry, store_entry
from mcpc.emit import bytecode
from mcpc.emit.artifact_file import ArtifactFile
from mcpc.emit.interpreters import HERE, cache_tag, compile_at_once, tag_suffix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.ir import Layer, Server

SITE, SERVING = "site", "serving"
INDEX = ".layer"
"""Read by `mcpc_runtime.packages`; the leading dot makes it impossible to import."""
EXTRACTED = ".extracted/"
ASGI = b'''"""The server as an ASGI application: PYTHONPATH=server.pyz granian --interface asgi mcpc_app.asgi:app"""

from mcpc_runtime.http.asgi import application

app = application(__loader__.archive)
'''


def site_modules(server: Server, minors: Sequence[str]) -> tuple[ArtifactFile, ...]:
    """Return the packages of handlers; empty if none are bundled."""
    return layer_modules(server.layer, SITE, minors) if server.layer is not None else ()


def serving_modules(server: Server, minors: Sequence[str]) -> tuple[ArtifactFile, ...]:
    """Return the packages of the server itself; empty if it needs only the runtime."""
    if server.serving is None:
        return ()
    has_http = "uvicorn" in server.serving.modules
    asgi = (ArtifactFile("mcpc_app/asgi.py", ASGI, python=True),) if has_http else ()
    return *asgi, *layer_modules(server.serving, SERVING, minors)


def layer_modules(layer: Layer, folder: str, minors: Sequence[str]) -> tuple[ArtifactFile, ...]:
    """Return the files of a layer's packages in a folder of the archive."""
    sources = {f"{folder}/{path}": data for path, data in layer.files.items() if path.endswith(".py")}
    files = dict(layer.files)
    for minor in minors:
        for path, data in compile_cached(sources, minor).items():
            files[bytecode_path(path.removeprefix(f"{folder}/"), minor, minors)] = data
    index = bytecode.dump_data(with_bytecode(layer.index, files))
    return tuple(ArtifactFile(f"{folder}/{path}", data) for path, data in sorted({**files, INDEX: index}.items()))


def bytecode_path(compiled: str, minor: str, minors: Sequence[str]) -> str:
    """Return the path of a module's bytecode: beside its source in the archive, where Python looks in a folder."""
    if not compiled.startswith(EXTRACTED):
        return compiled + tag_suffix(minor, minors)
    folder, _, name = compiled.rpartition("/")
    return f"{folder}/__pycache__/{name.removesuffix('.pyc')}.{cache_tag(minor)}.pyc"


def with_bytecode(index: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return an index whose extracted packages have all their files, the bytecode included."""
    packages = [
        {**package, "variants": [{**variant, "files": digests(variant, files)} for variant in package["variants"]]}
        for package in index["parcels"]
    ]
    return {**index, "parcels": packages}


def digests(variant: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the digest of each file of a variant of a package; the largest first, as they are extracted."""
    start = f"{variant['folder']}/"
    own = {path.removeprefix(start): data for path, data in files.items() if path.startswith(start)}
    paths = sorted(own, key=lambda path: (-len(own[path]), path))
    return {path: hashlib.sha256(own[path]).hexdigest() for path in paths}


def compile_cached(sources: Mapping[str, bytes], minor: str) -> dict[str, bytes]:
    """Return the bytecode of the files that a Python can compile, by their names beside the sources."""
    name = digest_of(sources, minor)
    kept = load_entry("bytecode", name)
    if kept is None:
        kept = marshal.dumps(dict(compile_all(sources, minor)))
        store_entry("bytecode", name, kept)
    found: dict[str, bytes] = marshal.loads(kept)
    return found


def compile_all(sources: Mapping[str, bytes], minor: str) -> Iterator[tuple[str, bytes]]:
    """Yield the bytecode of each Python file: packages may contain files that this Python cannot compile."""
    magic, codes = compile_at_once(minor, [(data, f"server.pyz/{name}", False) for name, data in sources.items()])
    for (name, data), code in zip(sources.items(), codes, strict=True):
        if code is not None:
            yield f"{name}c", bytecode.pyc_header(magic, data) + code


def digest_of(sources: Mapping[str, bytes], minor: str) -> str:
    """Return the digest of all inputs of the bytecode: the sources, the Python, and the compiler's method."""
    version = sys.version if minor == HERE else minor
    summary = hashlib.sha256(f"{version}\0".encode() + Path(bytecode.__file__).read_bytes())
    for name, data in sorted(sources.items()):
        summary.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\0".encode())
    return summary.hexdigest()
