"""Entries to one executable file: same entries, same bytes, whoever packs them, wherever and whenever."""

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
class Entry:
    """One file in the archive."""

    name: str
    data: bytes


def archive(entries: Sequence[Entry], prologue: str) -> bytes:
    """Return the executable archive: its prologue, if it has one, then the entries, stored, sorted by name."""
    buffer = io.BytesIO()
    buffer.write(prologue.encode())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as packed:
        for entry in sorted(entries, key=lambda entry: entry.name.encode()):
            info = zipfile.ZipInfo(entry.name, EPOCH)
            info.create_system = UNIX
            info.external_attr = REGULAR_FILE
            packed.writestr(info, entry.data, zipfile.ZIP_STORED)
    return buffer.getvalue()


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def content_digest(entries: Sequence[Entry]) -> str:
    """Return the digest of what an archive holds: of its `sha256sum` lines in the order of their names."""
    lines = (f"{digest(entry.data)}  {entry.name}\n" for entry in sorted(entries, key=lambda e: e.name.encode()))
    return digest("".join(lines).encode())
