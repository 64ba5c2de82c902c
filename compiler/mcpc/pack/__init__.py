"""Emitted modules and the runtime become one executable file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.pack.archive import archive, content_digest
from mcpc.pack.manifest import manifest_entries
from mcpc.pack.prologue import prologue
from mcpc.pack.runtime import runtime_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.emit import Module
    from mcpc.ir import CheckedServer


@dataclass(frozen=True, slots=True)
class Archive:
    """A finished artifact and the digest of what it holds."""

    data: bytes
    content_digest: str


def pack(checked: CheckedServer, modules: Sequence[Module], python: str) -> Archive:
    """Return the artifact of a server."""
    entries = runtime_entries(checked.server, modules)
    entries += manifest_entries(checked.server, entries)
    return Archive(archive(entries, prologue(python)), content_digest(entries))
