"""Emitted modules and the runtime become one executable file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.pack.archive import archive, content_digest
from mcpc.pack.manifest import manifest_entries
from mcpc.pack.runtime import runtime_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.emit import Module
    from mcpc.ir import CheckedServer

START = "import sys,zipimport;z=zipimport.zipimporter(sys.argv[1]);exec(z.get_code('__main__'))"
"""Starts the archive that is the first argument with neither `runpy` nor `site` on the way."""
FIRST_LINE = '#!/usr/bin/env -S {python} -ISc "{start}"'
"""`env -S` is in GNU coreutils since 8.30, and in the BSDs and macOS."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A finished artifact and the digest of what it holds."""

    data: bytes
    content_digest: str


def pack(checked: CheckedServer, modules: Sequence[Module], python: str) -> Archive:
    """Return the artifact of a server."""
    entries = runtime_entries(checked.server, modules)
    entries += manifest_entries(checked.server, entries)
    return Archive(archive(entries, first_line(python)), content_digest(entries))


def first_line(python: str) -> str:
    """Return the first line of a file that is started by the interpreter `python`, a command or a path."""
    return FIRST_LINE.format(python=python, start=START)
