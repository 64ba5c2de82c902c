"""Pack a layer of packages: its files, the bytecode of modules imported from the archive, and an index.

Packages seldom change between two builds, and compiling and deflating them takes longer than the rest of a build, so
what they are packed as is kept. Extracted packages have their bytecode where an import looks for it, so that the first
one need not compile.

The files themselves are extracted, for tracebacks and for all that reads them; the worker reads their bytecode in the
built file (`mcpc_runtime.handlers.python.program_bytecode`), so that the first call compiles nothing.

Machine code for other Pythons and platforms than the first is compressed together, because its files are alike: an
archive for each package and platform has all files of its variants one behind the other, each content once.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import marshal
import re
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.emit import bytecode
from mcpc.emit.bytecode import dump_data
from mcpc.emit.interpreters import HERE, cache_tag, compile_at_once, compile_for, tag_suffix
from mcpc.pack.archive import (
    ARCHIVES,
    EXTRACTED_FOLDER,
    LAYER,
    ArchiveEntry,
    archive_of_variants,
    content_rows,
    nest_entries,
    nested_place,
    sha256_hex,
)
from mcpc.packages.cached_packages import keep_bytecode
from mcpc.packages.platforms import Target, wheel_tags
from mcpc.sandbox.cache_dir import code_digest, load_entry, store_entry
from mcpc_runtime.handlers.python.program_bytecode import ENTRY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.model.ir import Layer, Server

    Packed = tuple[dict[str, bytes], dict[str, str]]


FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 25}]
"""The fastest preset, with a dictionary for a library of several Pythons: each takes a third of what it does alone."""
VERSION = re.compile(r"3\d+")

Variants = dict[str, list["Mapping[str, Any]"]]


def other_variants(layer: Layer, minors: Sequence[str]) -> Variants:
    """Return the variants of packages that none of these Pythons uses on the first platform, by their archives."""
    first = layer.targets[0].platform if layer.targets else ""
    accepted = {str(tag) for minor in minors for tag in wheel_tags(Target(first, minor))}
    archives: Variants = {}
    for package in layer.index["parcels"]:
        for variant in package["variants"]:
            if accepted.isdisjoint(variant["tags"]):
                platform = variant["tags"][0].rpartition("-")[2]
                archives.setdefault(EXTRACTED_FOLDER + archive_of_variants(package["name"], platform), []).append(
                    variant
                )
    return archives


class VariantArchive(NamedTuple):
    """Files compressed together: the bytes, the digest of what they contain, and the offset and length of each file."""

    data: bytes
    digest: str
    places: Mapping[str, tuple[int, int]]


def variant_archive(files: Mapping[str, bytes]) -> VariantArchive:
    """Return files compressed together; like files are neighbours."""
    places: dict[str, tuple[int, int]] = {}
    offsets: dict[bytes, int] = {}
    contents: list[bytes] = []
    end = 0
    # Without the variant's folder and the digits of a version, the files of one module for all Pythons are neighbours.
    for path in sorted(files, key=lambda path: (VERSION.sub("", path.partition("/")[2]), path)):
        data = files[path]
        digest = hashlib.sha256(data).digest()
        if digest not in offsets:
            offsets[digest] = end
            contents.append(data)
            end += len(data)
        places[path] = (offsets[digest], len(data))
    content = b"".join(contents)
    return VariantArchive(lzma.compress(content, lzma.FORMAT_XZ, filters=FILTERS), sha256_hex(content), places)


KIND = "packed"


def packed_packages(server: Server, minors: Sequence[str]) -> Packed:
    """Return the entries of all packages, and the digest of each file in their archives, by its name."""
    layers = {"site": server.layer, "serving": server.serving}
    entries: dict[str, bytes] = {}
    digests: dict[str, str] = {}
    for folder, layer in layers.items():
        if layer is not None:
            packed, files = packed_layer(layer, folder, minors)
            entries |= packed
            digests |= files
    return entries, digests


def packed_layer(layer: Layer, folder: str, minors: Sequence[str]) -> Packed:
    """Return what a layer is packed as, from an earlier build if it was the same."""
    name = layer_digest(layer, folder, minors)
    kept = load_entry(KIND, name)
    if kept is None:
        files, compressed = layer_files(layer, folder, minors)
        packed = nest_entries({f"{folder}/{path}": files[path] for path in sorted(files)})
        digests = dict(content_rows([ArchiveEntry(path, data) for path, data in packed.items()], archives=False))
        digests |= {
            f"{folder}/{archive}/{inner}": compressed.get(path) or sha256_hex(data)
            for path, data in files.items()
            for archive, inner in (nested_place(path),)
            if archive in ARCHIVES and path != LAYER
        }
        kept = marshal.dumps((packed, digests))
        store_entry(KIND, name, kept)
        if layer.staged and HERE in minors:
            keep_bytecode(Path(layer.staged), importable(layer, files, minors), cache_tag(HERE))
    earlier: Packed = marshal.loads(kept)
    return earlier


def importable(layer: Layer, files: Mapping[str, bytes], minors: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the path that each compiled file of a layer has where it is installed, its digest, and its code."""
    for path, digest in layer.digests.items():
        code = files.get(bytecode_path(f"{path}c", HERE, minors)) if path.endswith(".py") else None
        if code is not None:
            inner = path.removeprefix(EXTRACTED_FOLDER)
            yield path if inner == path else inner.partition("/")[2], digest, code


def layer_digest(layer: Layer, folder: str, minors: Sequence[str]) -> str:
    """Return the digest of all that decides what a layer is packed as: it, the Pythons, the code, and zlib."""
    pythons = [sys.version if minor == HERE else minor for minor in minors]
    code = code_digest(Path(bytecode.__file__).parent, Path(__file__).parent)
    inputs = [
        code,
        zlib.ZLIB_RUNTIME_VERSION,
        pythons,
        folder,
        layer.index,
        sorted(layer.digests.items()),
        [*map(astuple, layer.targets)],
    ]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def layer_files(layer: Layer, folder: str, minors: Sequence[str]) -> Packed:
    """Return the files of a layer's packages, with bytecode and an index; the digests of what variant archives contain.

    `folder`: that of the layer in the built file, which bytecode names.
    """
    archives = other_variants(layer, minors)
    others = {path for variants in archives.values() for path in paths_of(variants)}
    files = {path: data for path, data in layer.files.items() if path not in others}
    sources = {f"{folder}/{path}": data for path, data in files.items() if path.endswith(".py")}
    with ThreadPoolExecutor() as pool:  # lzma compresses without the lock of the interpreter
        packed = pool.map(
            lambda variants: variant_archive({path: layer.files[path] for path in paths_of(variants)}),
            archives.values(),
        )
        # Python compiles while the threads compress.
        for minor in minors:
            for path, data in compile_all(sources, minor):
                files[bytecode_path(path.removeprefix(f"{folder}/"), minor, minors)] = data
    digests: dict[str, str] = {}
    places: dict[str, dict[str, Any]] = {}
    for (name, variants), archive in zip(archives.items(), packed, strict=True):
        files[name], digests[name] = archive.data, archive.digest
        for each in variants:
            own = {path: archive.places[f"{each['folder']}/{path}"] for path in each["files"]}
            places[each["folder"]] = {"archive": name, "places": own}
    files[LAYER] = bytecode.dump_data(with_bytecode(layer.index, files, places))
    return files, digests


def paths_of(variants: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the paths of the files of variants in their layer."""
    yield from (f"{each['folder']}/{path}" for each in variants for path in each["files"])


def bytecode_path(compiled: str, minor: str, minors: Sequence[str]) -> str:
    """Return the path of a module's bytecode: beside its source in the archive, where Python looks in a folder."""
    if not compiled.startswith(EXTRACTED_FOLDER):
        return compiled + tag_suffix(minor, minors)
    folder, _, name = compiled.rpartition("/")
    return f"{folder}/__pycache__/{name.removesuffix('.pyc')}.{cache_tag(minor)}.pyc"


def with_bytecode(
    index: Mapping[str, Any], files: Mapping[str, bytes], places: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return an index whose extracted packages have all their files, the bytecode included, or their places."""
    packages = [
        {
            **package,
            "variants": [
                {**each, **(places.get(each["folder"]) or {"files": digests(each, files)})}
                for each in package["variants"]
            ],
        }
        for package in index["parcels"]
    ]
    return {**index, "parcels": packages}


def digests(variant: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the digest of each file of a variant of a package; the largest first, as they are extracted."""
    start = f"{variant['folder']}/"
    own = {path.removeprefix(start): data for path, data in files.items() if path.startswith(start)}
    paths = sorted(own, key=lambda path: (-len(own[path]), path))
    return {path: hashlib.sha256(own[path]).hexdigest() for path in paths}


def compile_all(sources: Mapping[str, bytes], minor: str) -> Iterator[tuple[str, bytes]]:
    """Yield the bytecode of each Python file: packages may contain files that this Python cannot compile."""
    magic, codes = compile_at_once(minor, [(data, f"server.pyz/{name}", False) for name, data in sources.items()])
    for (name, data), code in zip(sources.items(), codes, strict=True):
        if code is not None:
            yield f"{name}c", bytecode.pyc_header(magic, data) + code


def program_entries(server: Server, minors: Sequence[str]) -> Iterator[ArchiveEntry]:
    """Yield the entry with the bytecode of the program's files for each Python; none for servers without a program."""
    imported = frozenset(server.imported)
    sources = {file.source.path: file.source.data for file in server.files if file.source.path in imported}
    paths = sorted(sources)
    for minor in minors if paths else ():
        magic, codes = compile_for(minor, [(sources[path], f"server.pyz/{path}", False) for path in paths])
        bodies = {path: code for path, code in zip(paths, codes, strict=True) if code is not None}
        if bodies:
            # The table's length does not depend on the offsets: marshal writes every number in five bytes.
            length = len(dump_data(file_table(bodies, 0)))
            table = dump_data(file_table(bodies, len(magic) + 4 + length))
            data = b"".join((magic, length.to_bytes(4, "little"), table, *bodies.values()))
            yield ArchiveEntry(ENTRY + tag_suffix(minor, minors), data)


def file_table(bodies: dict[str, bytes], start: int) -> dict[str, tuple[int, int]]:
    """Return the offset and the length of each file's code."""
    rows = {}
    for path, body in bodies.items():
        rows[path] = start, len(body)
        start += len(body)
    return rows
