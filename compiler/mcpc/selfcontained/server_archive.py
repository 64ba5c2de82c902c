"""The archive of a server as entries, to which a self-contained file adds its own."""

from __future__ import annotations

import io
import zipfile

from mcpc.pack.archive import MANIFEST, ArchiveEntry, sha256_hex
from mcpc.pack.manifest import checksum_line


def server_entries(archive: bytes) -> dict[str, bytes]:
    """Return the entries of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def with_manifest(entries: dict[str, bytes]) -> list[ArchiveEntry]:
    """Return entries with a manifest of all of them."""
    lines = sorted((name, sha256_hex(data)) for name, data in entries.items() if name != MANIFEST)
    manifest = "".join(f"{checksum_line(name, digest)}\n" for name, digest in lines)
    return [ArchiveEntry(name, data) for name, data in {**entries, MANIFEST: manifest.encode()}.items()]
