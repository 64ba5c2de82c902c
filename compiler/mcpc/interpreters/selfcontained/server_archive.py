"""The archive of a server as entries, to which a self-contained file adds its own."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING

from mcpc.pack.archive import MANIFEST, ArchiveEntry, sha256_hex
from mcpc.pack.manifest import FACTS, SBOM, checksum_line, readable_json
from mcpc.pack.sbom import with_components

if TYPE_CHECKING:
    from mcpc.interpreters.selfcontained.interpreter_components import EmbeddedPython


def server_entries(archive: bytes) -> dict[str, bytes]:
    """Return the entries of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def with_manifest(entries: dict[str, bytes], python: EmbeddedPython) -> list[ArchiveEntry]:
    """Return entries that name the included Python, with a manifest of all of them."""
    facts = {**json.loads(entries[FACTS]), "selfContained": python.as_fact()}
    bill = with_components(json.loads(entries[SBOM]), python.components())
    entries = {**entries, FACTS: readable_json(facts), SBOM: readable_json(bill)}
    lines = sorted((name, sha256_hex(data)) for name, data in entries.items() if name != MANIFEST)
    manifest = "".join(f"{checksum_line(name, digest)}\n" for name, digest in lines)
    return [ArchiveEntry(name, data) for name, data in {**entries, MANIFEST: manifest.encode()}.items()]
