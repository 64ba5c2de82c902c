"""Write entries to one executable file: equal entries give equal bytes, on every machine and at any time."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EPOCH = (1980, 1, 1, 0, 0, 0)
REGULAR_FILE = 0o100644 << 16
UNIX = 3


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One file in the archive."""

    name: str
    data: bytes


def build_archive(entries: Sequence[ArchiveEntry], prologue: str) -> bytes:
    """Return the executable archive: its prologue, if any, then the entries, stored, sorted by name."""
    buffer = io.BytesIO()
    buffer.write(prologue.encode())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as packed:
        for entry in sorted(entries, key=lambda entry: entry.name.encode()):
            info = zipfile.ZipInfo(entry.name, EPOCH)
            info.create_system = UNIX
            info.external_attr = REGULAR_FILE
            packed.writestr(info, entry.data, zipfile.ZIP_STORED)
    return buffer.getvalue()


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def content_digest(entries: Sequence[ArchiveEntry]) -> str:
    """Return the digest of an archive's content: of its `sha256sum` lines, sorted by name."""
    lines = (f"{sha256_hex(entry.data)}  {entry.name}\n" for entry in sorted(entries, key=lambda e: e.name.encode()))
    return sha256_hex("".join(lines).encode())
