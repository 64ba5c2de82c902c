"""Pack generated modules and the runtime into one executable file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.emit.generated_modules import SOURCES as VALIDATOR_SOURCES
from mcpc.pack.archive import BEST, LEVEL, ArchiveEntry, build_archive, content_digest, without_tag
from mcpc.pack.manifest import manifest_entries
from mcpc.pack.packages import packed_packages, program_entries
from mcpc.pack.prologue import shell_prologue
from mcpc.pack.runtime import PACKAGE, START, page_entries, runtime_entries
from mcpc_runtime import BYTECODE, OTHER_PYTHONS, SOURCES
from mcpc_runtime.http.page_files import FOLDER
from mcpc_runtime.protocol.operations import ENTRY as OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.emit import ArtifactFile
    from mcpc.model.ir import CheckedServer
    from mcpc.options import Options


DEFLATED = frozenset({OPERATIONS, SOURCES})
"""The entries that are compressed: those that no start reads, only another Python, people, or a search."""
DEFLATED_FOLDERS = (FOLDER, VALIDATOR_SOURCES)
"""Folders whose entries are compressed: the page, and what a rejected value needs."""
INDEX, VALIDATORS = "mcpc_app/index.py", "mcpc_app/bytecode"
COMPACT = DEFLATED | {BYTECODE, OTHER_PYTHONS, START, PACKAGE, INDEX, VALIDATORS}
"""The entries that are compressed in a compact file, for all its Pythons. The start reads none of them."""
COMPACT_FOLDERS = ("mcpc_app/bash/", "META-INF/")
"""Folders whose entries are compressed in a compact file."""


@dataclass(frozen=True, slots=True)
class BuiltArchive:
    """A finished artifact and the digest of its content."""

    data: bytes
    content_digest: str


def pack_server(
    checked: CheckedServer, modules: Sequence[ArtifactFile], options: Options, minors: Sequence[str]
) -> BuiltArchive:
    """Return the artifact of a server; `minors`: the Pythons whose bytecode it has."""
    runtime = runtime_entries(checked.server, modules, minors, compact=options.compact)
    packages, digests = packed_packages(checked.server, minors)
    runtime = tuple(sorted((*runtime, *(ArchiveEntry(*row) for row in packages.items())), key=lambda entry: entry.name))
    entries = (*runtime, *program_entries(checked.server, minors))
    entries += page_entries() if options.ui else ()
    # Last, because the manifest has the digests of all others.
    entries += manifest_entries(checked.server, entries, minors, options)
    start = shell_prologue(options.python or ",".join(minors))
    deflated = [entry.name for entry in entries if is_deflated(entry.name, compact=options.compact)]
    data = build_archive(entries, start, deflated=deflated, level=BEST if options.compact else LEVEL)
    return BuiltArchive(data, content_digest(entries, digests))


def is_deflated(name: str, *, compact: bool) -> bool:
    """Return whether an entry of the file is compressed."""
    if name.startswith(DEFLATED_FOLDERS):
        return True
    plain = without_tag(name)
    return plain in COMPACT or plain.startswith(COMPACT_FOLDERS) if compact else plain in DEFLATED
