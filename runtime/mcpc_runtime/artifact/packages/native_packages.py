"""Loading of modules of native packages: from the extracted folder, or from memory if no folder is usable."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from lzma import FORMAT_XZ, LZMADecompressor, LZMAError
from typing import NotRequired, TypedDict

from mcpc_runtime.artifact.packages.folders import CACHE_VARIABLE, write_memory_file
from mcpc_runtime.artifact.wheel_tags import describe_platform, matches_tag
from mcpc_runtime.transports.platforms.files import UnusableFolderError

CHUNK_BYTES = 1 << 20
Places = dict[str, tuple[int, int]]
"""The offset and the length of each file."""


def archive_reader(folder: str, places: Places, load: Callable[[], bytes]) -> Callable[[str], bytes]:
    """Return a function that reads an entry below a folder; the first call decompresses all of them, and keeps them."""
    files: dict[str, bytes] = {}
    lock = threading.Lock()

    def read_entry(entry: str) -> bytes:
        with lock:
            if not files:
                files.update(read_archive(load(), places))
        return files[entry.removeprefix(f"{folder}/")]

    return read_entry


def read_archive(packed: bytes, places: Places) -> dict[str, bytes]:
    """Return files by their places in what an archive decompresses to; no more of it is kept.  Raises ImportError."""
    parts: dict[str, bytearray] = {path: bytearray() for path in places}
    decompressor = LZMADecompressor(FORMAT_XZ)
    end = max(offset + length for offset, length in places.values())
    position, data = 0, packed
    while position < end and not decompressor.eof:
        try:
            # The first call gets all input; the limit is what is decompressed at a time.
            chunk = decompressor.decompress(data, CHUNK_BYTES)
        except LZMAError as problem:
            raise ImportError(f"the server's file is damaged: {problem}") from None
        for path, (offset, length) in places.items():
            parts[path] += chunk[max(offset - position, 0) : max(offset + length - position, 0)]
        position, data = position + len(chunk), b""
        # The archive is cut short: files that miss something are found by their digests.
        if decompressor.needs_input:
            break
    return {path: bytes(part) for path, part in parts.items()}


class Variant(TypedDict):
    """A native package for the platforms of one wheel: tags, folder in the archive, and the digest of each file.

    `archive`, `places`: the compressed archive that has the files, and the offset and the length of each in it.
    """

    tags: list[str]
    folder: str
    files: dict[str, str]
    archive: NotRequired[str]
    places: NotRequired[dict[str, tuple[int, int]]]


Read = Callable[[str], bytes]
"""Reads an entry of the layer."""

if sys.platform == "win32":
    from mcpc_runtime.artifact.packages.profile_folders import cache_roots, extract_folder, make_trusted_folder
else:
    from mcpc_runtime.artifact.packages.folders import cache_roots, extract_folder, make_trusted_folder


VERIFIED_FOLDERS: dict[str, str] = {}
"""The extracted folder of each native package that this process has verified, by its folder in the archive."""


def find_variant(variants: Sequence[Variant]) -> Variant | None:
    """Return the first variant that can be loaded on this machine, or None."""
    return next((variant for variant in variants if any(map(matches_tag, variant["tags"]))), None)


def unsupported_text(variants: Sequence[Variant]) -> str:
    """Return why no variant can be loaded: their tags, and this platform."""
    tags = ", ".join(tag for variant in variants for tag in variant["tags"])
    here = describe_platform()
    return f"the server contains it for {tags}, but this is {here}; use `mcpc build --platform` to add platforms"


def find_module_spec(name: str, variant: Variant, read: Read) -> ModuleSpec | None:
    """Return the spec of a module of a native package; raise ImportError, with a remedy, if it cannot be loaded."""
    try:
        extracted = extracted_package(name, variant, read)
    except UnusableFolderError as problem:
        return load_from_memory(name, variant, file_reader(variant, read), str(problem))
    return PathFinder.find_spec(name, [os.path.join(extracted, *name.split(".")[:-1])])


def extracted_package(name: str, variant: Variant, read: Read) -> str:
    """Return the folder of a native package; raise UnusableFolderError."""
    return VERIFIED_FOLDERS.get(variant["folder"]) or extract_package(name, variant, read)


def extract_package(name: str, variant: Variant, read: Read) -> str:
    """Return the folder of a native package, extracted to the first usable location; raise UnusableFolderError."""
    reasons = []
    read = file_reader(variant, read)
    for base, names in cache_roots():
        try:
            path = extract_folder(
                make_trusted_folder(base, names), variant["files"], lambda path: read_checked(path, variant, read)
            )
        except UnusableFolderError as problem:
            reasons.append(str(problem))
            continue
        if reasons:
            log_fallback(name, f"extracted to {os.path.realpath(path)}", reasons)
        VERIFIED_FOLDERS[variant["folder"]] = path
        return path
    raise UnusableFolderError("; ".join(reasons))


def file_reader(variant: Variant, read: Read) -> Read:
    """Return what reads the files of a native package."""
    if "archive" not in variant:
        return read
    return archive_reader(variant["folder"], variant["places"], lambda: read(variant["archive"]))


def read_checked(path: str, variant: Variant, read: Read) -> bytes:
    """Return a file of a native package; raise ImportError if the file in the archive is damaged."""
    entry = f"{variant['folder']}/{path}"
    data = read(entry)
    if hashlib.sha256(data).hexdigest() != variant["files"][path]:
        raise ImportError(f"site/{entry} has a wrong checksum: the server's file is damaged")
    return data


def load_from_memory(name: str, variant: Variant, read: Read, reason: str) -> ModuleSpec:
    """Return the spec of a module without other files, loaded from memory; each process does so again."""
    advice = f"set {CACHE_VARIABLE} to your own folder on a file system that allows execution"
    if len(variant["files"]) != 1:
        raise ImportError(f"{name} cannot be extracted: {reason}; {advice}", name=name)
    (path,) = variant["files"]
    try:
        memory_path = write_memory_file(read_checked(path, variant, read), name)
    except (UnusableFolderError, OSError) as problem:
        raise ImportError(f"{name} cannot be extracted: {reason}; {problem}; {advice}", name=name) from None
    log_fallback(name, f"loaded from memory; {advice}", [reason])
    spec = ModuleSpec(name, ExtensionFileLoader(name, memory_path), origin=memory_path)
    spec.has_location = True
    return spec


def log_fallback(name: str, fallback: str, reasons: list[str]) -> None:
    """Log on standard error that a fallback was used, and why."""
    sys.stderr.write(f"{name} is {fallback} ({'; '.join(reasons)})\n")
