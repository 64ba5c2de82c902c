"""Write entries to one executable file: equal entries give equal bytes, on every machine and at any time.

Files that a start does not read, such as all packages and files needed on disk, are in nested archives, because
start-up time grows with the number of entries. These are stored, so that their files have a known place in the
artifact; a table has the places of packages' files.

Of packages is deflated what an import does not read: sources beside their bytecode, data, and what is extracted once.
Everything that a start or an import reads is stored.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

# The earliest time that a zip archive can express.
EPOCH = (1980, 1, 1, 0, 0, 0)
# The mode of a file, in the upper half of an entry's external attributes.
REGULAR_FILE = 0o100644 << 16
UNIX = 3


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One file in the archive."""

    name: str
    data: bytes


INCOMPRESSIBLE = (".png", ".jpg", ".gif", ".webp", ".gz", ".bz2", ".xz", ".zst", ".zip", ".whl", ".woff", ".woff2")
LEVEL, BEST = 6, 9
"""Levels of compression: the default, and that of compact files."""


def build_archive(
    entries: Sequence[ArchiveEntry],
    prologue: bytes | str,
    *,
    deflates: bool = False,
    deflated: Collection[str] = (),
    level: int = LEVEL,
) -> bytes:
    """Return the executable archive: its prologue, if any, then the entries, sorted by name, stored or deflated.

    The prologue is a script, or a program. `deflated`: the names of single entries to deflate.
    """
    buffer = io.BytesIO()
    buffer.write(prologue.encode() if isinstance(prologue, str) else prologue)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as packed:
        for entry in sorted(entries, key=lambda entry: entry.name.encode()):
            info = zipfile.ZipInfo(entry.name, EPOCH)
            # Else it is the system of the build, and so the bytes would differ.
            info.create_system = UNIX
            info.external_attr = REGULAR_FILE
            is_deflated = entry.name in deflated or (deflates and not entry.name.endswith(INCOMPRESSIBLE))
            packed.writestr(info, entry.data, zipfile.ZIP_DEFLATED if is_deflated else zipfile.ZIP_STORED, level)
    return buffer.getvalue()


def sha256_hex(data: bytes | memoryview) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def checksum_line(name: str, checksum: str) -> str:
    """Return a line in the format of `sha256sum`, which escapes special characters in names."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{checksum}  {name}" if escaped == name else f"\\{checksum}  {escaped}"


def content_digest(entries: Sequence[ArchiveEntry], packages: Mapping[str, str] | None = None) -> str:
    """Return the digest of an archive's content: of its `sha256sum` lines, sorted by name.

    Packages count with their files instead of the archives in which they are, and the manifest does not: so the digest
    is independent of the implementation of zlib and of lzma. `packages`: the digests of these files, if they are known.
    """
    rows = dict(content_rows(entries, archives=packages is None)) | dict(packages or {})
    lines = (f"{rows[name]}  ".encode() + name.encode() + b"\n" for name in sorted(rows, key=str.encode))
    return sha256_hex(b"".join(lines))


def content_rows(entries: Iterable[ArchiveEntry], *, archives: bool) -> Iterator[tuple[str, str]]:
    """Yield the names and digests that make the content digest; of the files in archives of packages only if asked."""
    for entry in entries:
        if entry.name in PACKAGE_ARCHIVES:
            if archives:
                with zipfile.ZipFile(io.BytesIO(entry.data)) as nested:
                    for name in nested.namelist():
                        data = lzma.decompress(nested.read(name)) if is_variant_archive(name) else nested.read(name)
                        yield f"{entry.name}/{name}", sha256_hex(data)
        elif without_tag(entry.name) not in PLACES:
            yield entry.name, sha256_hex(entry.data)


MANIFEST = "META-INF/manifest.sha256"
PACKAGES = ("site/", "serving/")
"""The folders of packages."""
LAYER, DIRECTORY = ".layer", ".directory"
"""The entries beside nested archives of packages: their index, and the places of their files."""
BYTECODE, SOURCES, EXTRACTED = "bytecode.zip", "sources.zip", "extracted.zip"
ARCHIVES = {BYTECODE: False, SOURCES: True, EXTRACTED: True}
"""The nested archives of a folder of packages, and whether their files are deflated."""
PACKAGE_ARCHIVES = frozenset(folder + name for folder in PACKAGES for name in ARCHIVES)
PLACES = frozenset({MANIFEST, *(folder + DIRECTORY for folder in PACKAGES)})
"""The entries that depend on the bytes of nested archives."""
EXTRACTED_FOLDER = ".extracted/"
PACKAGE_END, VARIANTS = "+", ".xz"
"""What separates a package from its platform in the name of an archive of variants, and what the name ends in."""
FILES, HANDLERS = "folded/", "handlers.zip"
TAG = re.compile(r"\.cpython-\d+\Z")
"""What the name of an entry ends in that replaces one for another Python (see `mcpc_runtime.select_bytecode`)."""


def archive_of_variants(package: str, platform: str) -> str:
    """Return the name below EXTRACTED_FOLDER of the archive of a package's variants for other Pythons."""
    return f"{package}{PACKAGE_END}{platform}{VARIANTS}"


def is_variant_archive(name: str) -> bool:
    """Tell whether a file of EXTRACTED is an archive of variants; files of packages are in folders."""
    return "/" not in name and name.endswith(VARIANTS)


def without_tag(name: str) -> str:
    """Return the name of an entry without the tag of a Python."""
    return TAG.sub("", name)


def nest_entries(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the entries with those of certain folders packed into nested archives."""
    kept = {name: data for name, data in entries.items() if not name.startswith((*PACKAGES, FILES))}
    for folder in PACKAGES:
        kept.update({f"{folder}{name}": data for name, data in nested_packages(entries_below(folder, entries))})
    files = entries_below(FILES, entries)
    return {**kept, **({HANDLERS: build_archive(files, "")} if files else {})}


def nested_packages(entries: Sequence[ArchiveEntry]) -> Iterator[tuple[str, bytes]]:
    """Yield the entries of a folder of packages: its index, nested archives, and the table of their files."""
    if not entries:
        return
    groups: dict[str, list[ArchiveEntry]] = {}
    for entry in entries:
        if entry.name == LAYER:
            yield LAYER, entry.data
        else:
            archive, name = nested_place(entry.name)
            groups.setdefault(archive, []).append(ArchiveEntry(name, entry.data))
    names = sorted(groups)
    with ThreadPoolExecutor() as pool:  # zlib compresses without the lock of the interpreter
        archives = pool.map(lambda name: build_archive(groups[name], "", deflates=ARCHIVES[without_tag(name)]), names)
        packed = dict(zip(names, archives, strict=True))
    yield from packed.items()
    yield from place_tables(packed)


def place_tables(packed: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the tables of the places of files in the nested archives of a folder: the common one, and one a Python."""
    from mcpc.emit.bytecode import dump_data  # noqa: PLC0415 - what checks a file that was built before does without

    places = {name: file_places(packed[name]) for name in sorted(packed)}
    common = {name: places[name] for name in places if name in ARCHIVES}
    yield DIRECTORY, dump_data(common)
    for name in sorted(places.keys() - common.keys()):
        yield DIRECTORY + name.removeprefix(BYTECODE), dump_data({**common, BYTECODE: places[name]})


def nested_place(name: str) -> tuple[str, str]:
    """Return the nested archive that a file of a package is in, and its name there."""
    if name.startswith(EXTRACTED_FOLDER):
        return EXTRACTED, name.removeprefix(EXTRACTED_FOLDER)
    plain = without_tag(name)
    # `x.pyc.cpython-312` becomes `x.pyc` in `bytecode.zip.cpython-312`.
    return (BYTECODE + name.removeprefix(plain), plain) if plain.endswith(".pyc") else (SOURCES, name)


def file_places(archive: bytes) -> dict[str, tuple[int, int, int]]:
    """Return the place of each file in an archive: the offset of its data, their length, and its size if deflated."""
    places = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        for info in packed.infolist():
            # From the local header, whose extra field may have another length than that in the central directory.
            lengths = archive[info.header_offset + 26 : info.header_offset + 30]
            name, extra = int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little")
            # -1 tells a reader that the data are stored as they are.
            size = info.file_size if info.compress_type == zipfile.ZIP_DEFLATED else -1
            places[info.filename] = info.header_offset + HEADER_LENGTH + name + extra, info.compress_size, size
    return places


HEADER_LENGTH = 30
"""The length of the header of a file in an archive, before its name."""


def entries_below(folder: str, entries: Mapping[str, bytes]) -> list[ArchiveEntry]:
    """Return the entries of a folder, with relative names."""
    return [
        ArchiveEntry(name.removeprefix(folder), data)
        for name, data in sorted(entries.items())
        if name.startswith(folder)
    ]
