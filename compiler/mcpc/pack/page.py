"""The entries of the page (`serve --http --ui`): its files as the runtime has them, in files built with `--ui` only."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

from mcpc.model.ir import Traits
from mcpc.pack.archive import ArchiveEntry
from mcpc_runtime.http.page_files import FOLDER, MEDIA_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from mcpc.model.ir import Server

RUNTIME = "mcpc_runtime.http.page"
HOOK = Traits(hooks=(("http_routes", f"{RUNTIME}:page_routes"), ("hidden_paths", f"{RUNTIME}:hidden_paths")))
"""The hooks by which the runtime finds the page, before the routes of a program, and the paths that it would hide."""


def with_page(server: Server) -> Server:
    """Return a server with the page."""
    return replace(server, traits=HOOK | server.traits)


def page_entries() -> tuple[ArchiveEntry, ...]:
    """Return the files of the page, sorted by name."""
    return tuple(ArchiveEntry(FOLDER + name, data) for name, data in sorted(page_sources()))


def page_sources() -> Iterator[tuple[str, bytes]]:
    """Yield the names of the page's files, relative to its folder, and their bytes, without comments and indents."""
    for name, data in _files_of(files("mcpc_runtime.tools") / "page", ""):
        yield name, shortened(data.decode()).encode() if name.endswith((".js", ".css")) else data


def shortened(text: str) -> str:
    """Return a module or a style sheet without indents and without lines that are comments only.

    No template literal of the page's modules has more than one line, so indents mean nothing.
    """
    kept = []
    is_comment = False
    for line in map(str.strip, text.splitlines()):
        is_comment = is_comment or line.startswith("/*")
        if line and not is_comment and not line.startswith("//"):
            kept.append(line)
        is_comment = is_comment and not line.endswith("*/")
    return "\n".join([*kept, ""])


def is_of_page(entry: str) -> bool:
    """Tell whether an entry of a built file is a file of the page."""
    return entry.startswith(FOLDER)


def _files_of(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for child in folder.iterdir():
        if child.is_dir():
            yield from _files_of(child, f"{prefix}{child.name}/")
        elif child.name.endswith(tuple(MEDIA_TYPES)):
            yield prefix + child.name, child.read_bytes()
