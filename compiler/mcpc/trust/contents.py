"""A built file taken apart: what is before its archive, and its entries, also those of archives inside it.

Every byte of the file is accounted for: bytes between entries, behind a deflated stream, in extra fields or comments
are reported, because two files with the same entries may differ in them.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.pack.archive import EXTRACTED, EXTRACTED_FOLDER, HANDLERS, MANIFEST, PACKAGE_ARCHIVES, sha256_hex, without_tag
from mcpc.pack.manifest import FACTS, checksum_line
from mcpc_runtime import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_BYTES = 1 << 30
"""A file with more bytes of content than this is not read."""
LOCAL_HEADER, DIRECTORY_ROW, DIRECTORY_END = 30, 46, 22
"""The lengths of an archive's headers without names, extra fields and comments."""
NAME_LENGTHS = struct.Struct("<HH")


class UnreadableArtifactError(Exception):
    """A file cannot be taken apart; the message says why."""


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """An entry: its content, its bytes in the file, and the other fields of its header."""

    data: bytes
    stored: bytes
    header: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtifactContents:
    """A built file: its bytes, those before the archive, the entries of the archive, and the same with those inside.

    `is_exact`: nothing is in the file besides them.
    """

    data: bytes
    program: bytes
    top: Mapping[str, PackedEntry]
    entries: Mapping[str, PackedEntry]
    facts: Mapping[str, Any]
    is_exact: bool

    @property
    def sha256(self) -> str:
        """The digest of the file."""
        return sha256_hex(self.data)

    def altered_entries(self) -> tuple[str, ...]:
        """Return the entries that are not those of the file's own manifest."""
        told = set(self.top[MANIFEST].data.decode("utf-8", "replace").splitlines()) if MANIFEST in self.top else set()
        lines = {checksum_line(name, sha256_hex(entry.data)): name for name, entry in self.top.items()}
        wrong = {name for line, name in lines.items() if line not in told and name != MANIFEST}
        return tuple(sorted(wrong | ({MANIFEST} if told - lines.keys() else set())))


def take_apart(data: bytes) -> ArtifactContents:
    """Return the contents of a built file; raise UnreadableArtifactError."""
    try:
        program, top, is_exact = read_archive(data)
        facts = json.loads(top[FACTS].data)
        if not isinstance(facts, dict):
            raise ValueError(f"{FACTS} is not an object")
        entries: dict[str, PackedEntry] = {}
        for name, entry in top.items():
            place = place_of_nested(name)
            if place is None:
                entries[name] = entry
                continue
            entries[name] = PackedEntry(b"", entry.stored, entry.header)
            before, inner, is_inner_exact = read_archive(entry.data)
            is_exact &= is_inner_exact and not before
            entries.update((place.format(name=path), each) for path, each in inner.items())
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        KeyError,
        ValueError,
        OverflowError,
        RecursionError,
    ) as problem:
        raise UnreadableArtifactError(str(problem) or type(problem).__name__) from None
    return ArtifactContents(data, program, top, entries, facts, is_exact)


def read_archive(data: bytes) -> tuple[bytes, dict[str, PackedEntry], bool]:
    """Return what is before an archive, its entries, and whether nothing else is in it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rows = sorted(archive.infolist(), key=lambda info: info.header_offset)
        if sum(info.file_size for info in rows) > MAX_BYTES:
            raise zipfile.BadZipFile(f"it has more than {MAX_BYTES >> 20} MB of content")
        directory: int = archive.start_dir
        comment = archive.comment
    place = start = rows[0].header_offset if rows else directory
    found: dict[str, PackedEntry] = {}
    is_exact = not comment and len({info.filename for info in rows}) == len(rows)
    for info in rows:
        name, extra = NAME_LENGTHS.unpack_from(data, info.header_offset + LOCAL_HEADER - NAME_LENGTHS.size)
        begin = info.header_offset + LOCAL_HEADER + name + extra
        stored = data[begin : begin + info.compress_size]
        is_exact &= info.header_offset == place and not (extra or info.extra or info.comment)
        place = begin + info.compress_size
        header = (info.external_attr, info.date_time, info.create_system, info.flag_bits, info.compress_type)
        found[info.filename] = PackedEntry(inflated(info, stored), stored, header)
    rest = sum(DIRECTORY_ROW + len(info.orig_filename.encode()) for info in rows) + DIRECTORY_END
    return data[:start], found, is_exact and place == directory and directory + rest == len(data)


def inflated(info: zipfile.ZipInfo, stored: bytes) -> bytes:
    """Return the content of an entry, which is all that its bytes contain."""
    data = stored
    if info.compress_type == zipfile.ZIP_DEFLATED:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        data = inflater.decompress(stored, info.file_size + 1)
        if inflater.unused_data or inflater.unconsumed_tail or not inflater.eof:
            raise zipfile.BadZipFile(f"{info.filename} has bytes behind its content")
    elif info.compress_type != zipfile.ZIP_STORED:
        raise zipfile.BadZipFile(f"{info.filename} has an unknown compression")
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename} has a wrong checksum")
    return data


def place_of_nested(name: str) -> str | None:
    """Return the places of the files of an archive inside the file, as a template; None if an entry is not one."""
    plain = without_tag(name)
    tag = name.removeprefix(plain)
    if name == SOURCES:
        return "{name}"
    if name == HANDLERS:
        return "handlers/{name}"
    if plain not in PACKAGE_ARCHIVES:
        return None
    folder, _, archive = plain.partition("/")
    return f"{folder}/{EXTRACTED_FOLDER if archive == EXTRACTED else ''}{{name}}{tag}"


def file_parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file of a built file."""
    for name, entry in take_apart(data).entries.items():
        if place_of_nested(name) is None:
            yield name, entry.data
