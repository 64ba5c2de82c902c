"""A built file taken apart: what is before its archive, and its entries, also those of archives inside it.

Every byte of the file is accounted for, because a server reads some of them by their places: whatever `build_archive`
would not write for these entries is reported, in the file and in each archive inside it, and so is a table of places
that is not that of the file's own archives.
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcpc.pack.archive import (
    BYTECODE,
    EXTRACTED,
    EXTRACTED_FOLDER,
    HANDLERS,
    HEADER_LENGTH,
    MANIFEST,
    PACKAGE_ARCHIVES,
    PACKAGES,
    PLACES,
    REGULAR_FILE,
    UNIX,
    checksum_line,
    is_variant_archive,
    place_tables,
    sha256_hex,
    without_tag,
)
from mcpc.pack.manifest import FACTS
from mcpc_runtime import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_BYTES = 1 << 30
"""What all compressed entries of a file may inflate to, those of archives inside it too."""
ZIP_VERSION, NAMED_IN_UTF_8, FIRST_DAY = 20, 0x800, 33
"""What every header has: the version of the format, the flag of a name that is not ASCII, and 1980-01-01."""
MAX_COUNT, MAX_PLACE = (1 << 16) - 1, (1 << 31) - 1
"""The most entries, and the last place, of an archive in the smaller form."""
HEADER = struct.Struct("<HHHHHIIIHH")
"""What the header of an entry and its row in the directory share, from the version to the length of extra fields."""


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

    `is_exact`: the file is as `build_archive` writes these entries, and its tables have their places.
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
        listed = set(self.top[MANIFEST].data.decode("utf-8", "replace").splitlines()) if MANIFEST in self.top else set()
        lines = {checksum_line(name, sha256_hex(entry.data)): name for name, entry in self.top.items()}
        wrong = {name for line, name in lines.items() if line not in listed and name != MANIFEST}
        return tuple(sorted(wrong | ({MANIFEST} if listed - lines.keys() else set())))


def take_apart(data: bytes) -> ArtifactContents:
    """Return the contents of a built file; raise UnreadableArtifactError."""
    try:
        budget = MAX_BYTES
        program, top, is_exact = read_archive(data, budget)
        budget -= deflated_size(top)
        facts = json.loads(top[FACTS].data)
        if not isinstance(facts, dict):
            raise ValueError(f"{FACTS} is not an object")
        entries: dict[str, PackedEntry] = {}
        for name, entry in top.items():
            place = place_of_nested(name)
            if place is None:
                entries[name] = entry
                continue
            # What it contains is compared by its entries; the stored bytes tell whether only the compression differs.
            entries[name] = PackedEntry(b"", entry.stored, entry.header)
            before, inner, is_inner_exact = read_archive(entry.data, budget)
            budget -= deflated_size(inner)
            is_exact &= is_inner_exact and not before
            for path, each in inner.items():
                entries[place.format(name=path)] = each
                if name.endswith(EXTRACTED) and is_variant_archive(path):
                    machine_code = decompressed(each.data, budget)
                    budget -= len(machine_code)
                    entries[place.format(name=path)] = replace(each, data=machine_code)
        is_exact &= has_own_places(top)
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        struct.error,
        KeyError,
        ValueError,
        OverflowError,
        RecursionError,
        NotImplementedError,
    ) as problem:
        raise UnreadableArtifactError(str(problem) or type(problem).__name__) from None
    return ArtifactContents(data, program, top, entries, facts, is_exact)


def has_own_places(top: Mapping[str, PackedEntry]) -> bool:
    """Tell whether the tables of places in a file fit the archives in it."""
    expected: dict[str, bytes] = {}
    for folder in PACKAGES:
        entries = {name.removeprefix(folder): entry.data for name, entry in top.items() if name.startswith(folder)}
        packed = {name: data for name, data in entries.items() if place_of_nested(folder + name) is not None}
        expected |= {folder + name: data for name, data in place_tables(packed)} if entries else {}
    # What the runtime takes for a table of places.
    tables = {name for name in top if without_tag(name) in PLACES and name != MANIFEST}
    return expected == {name: entry.data for name, entry in top.items() if name in expected or name in tables}


def read_archive(data: bytes, budget: int) -> tuple[bytes, dict[str, PackedEntry], bool]:
    """Return what is before an archive, its entries, and whether it is as `build_archive` writes them.

    `budget`: the bytes that its compressed entries may inflate to; nothing of an archive with more is inflated.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # The rows of a directory may be in any order.
        rows = sorted(archive.infolist(), key=lambda info: info.header_offset)
        start = rows[0].header_offset if rows else archive.start_dir
    if sum(info.file_size for info in rows if info.compress_type != zipfile.ZIP_STORED) > budget:
        raise zipfile.BadZipFile(f"it has more than {MAX_BYTES >> 20} MB of compressed content")
    # Stored entries that share bytes would multiply the file, and the budget does not count them.
    if sum(info.compress_size for info in rows) > len(data):
        raise zipfile.BadZipFile("its entries overlap")
    entries: dict[str, PackedEntry] = {}
    for info in rows:
        begin = info.header_offset + HEADER_LENGTH
        # The header of an entry has its own lengths of the name and of the extra fields.
        begin += sum(struct.unpack_from("<HH", data, begin - 4))
        stored = data[begin : begin + info.compress_size]
        header = (info.external_attr, info.date_time, info.create_system, info.flag_bits, info.compress_type)
        entries[info.filename] = PackedEntry(inflated(info, stored), stored, header)
    return data[:start], entries, is_canonical(data, start, rows)


def decompressed(packed: bytes, budget: int) -> bytes:
    """Return what an archive of variants contains, which is all that its bytes contain."""
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    # One byte beyond the budget tells that there is more.
    data = decompressor.decompress(packed, budget + 1)
    if len(data) > budget or not decompressor.eof or decompressor.unused_data:
        raise zipfile.BadZipFile("an archive of machine code is too long, or has bytes behind its content")
    return data


def deflated_size(entries: Mapping[str, PackedEntry]) -> int:
    """Return the bytes that the compressed entries of an archive inflated to."""
    return sum(len(entry.data) for entry in entries.values() if entry.header[-1] != zipfile.ZIP_STORED)


def is_canonical(data: bytes, start: int, rows: Sequence[zipfile.ZipInfo]) -> bool:
    """Tell whether an archive is, but for the content of its entries, what `build_archive` writes, byte by byte."""
    names = [info.filename.encode() for info in rows]
    directory, place = b"", start
    for info, name in zip(rows, names, strict=True):
        flags = 0 if name.isascii() else NAMED_IN_UTF_8
        sizes = info.CRC, info.compress_size, info.file_size
        fields = HEADER.pack(ZIP_VERSION, flags, info.compress_type, 0, FIRST_DAY, *sizes, len(name), 0) + name
        if info.header_offset != place or not data.startswith(b"PK\3\4" + fields, place):
            return False
        row = fields[: HEADER.size] + struct.pack("<HHHII", 0, 0, 0, REGULAR_FILE, place) + name
        # Before the shared fields: the version that wrote the entry, and its system.
        directory += b"PK\1\2" + bytes((ZIP_VERSION, UNIX)) + row
        place += 4 + len(fields) + info.compress_size
    directory += end_of_directory(len(rows), len(directory), place)
    return names == sorted(set(names)) and data[place:] == directory


def end_of_directory(count: int, length: int, place: int) -> bytes:
    """Return what stands behind a directory with that many rows; of many rows the larger form comes first."""
    larger = b""
    if count > MAX_COUNT or max(length, place) > MAX_PLACE:
        # The record of Zip64, and its locator.
        larger = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, length, place)
        larger += b"PK\6\7" + struct.pack("<IQI", 0, place + length, 1)
        count, length, place = min(count, 0xFFFF), min(length, 0xFFFFFFFF), min(place, 0xFFFFFFFF)
    return larger + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, length, place, 0)


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
    folder, _, archive = plain.partition("/")
    if plain not in PACKAGE_ARCHIVES or (tag and archive != BYTECODE):
        return None
    return f"{folder}/{EXTRACTED_FOLDER if archive == EXTRACTED else ''}{{name}}{tag}"


def file_parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file of a built file."""
    for name, entry in take_apart(data).entries.items():
        if place_of_nested(name) is None:
            yield name, entry.data
