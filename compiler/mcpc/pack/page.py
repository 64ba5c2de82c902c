"""The entries of the page (`serve --http --ui`): its files as the runtime has them, in files built with `--ui` only."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

from mcpc.ir import Traits
from mcpc.pack.archive import ArchiveEntry
from mcpc_runtime.http.page_files import FOLDER, MEDIA_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from mcpc.ir import Server

HOOK = Traits(hooks=(("http_routes", "mcpc_runtime.http.page:page_routes"),))
"""The hook by which the runtime finds the page, before the routes of a program."""


def with_page(server: Server) -> Server:
    """Return a server with the page."""
    return replace(server, traits=HOOK | server.traits)


def page_entries() -> tuple[ArchiveEntry, ...]:
    """Return the files of the page, sorted by name."""
    return tuple(ArchiveEntry(FOLDER + name, data) for name, data in sorted(page_sources()))


def page_sources() -> Iterator[tuple[str, bytes]]:
    """Yield the names of the page's files, relative to its folder, and their bytes."""
    yield from _files_of(files("mcpc_runtime") / "page", "")


def is_of_page(entry: str) -> bool:
    """Tell whether an entry of a built file is a file of the page."""
    return entry.startswith(FOLDER)


def _files_of(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for child in folder.iterdir():
        if child.is_dir():
            yield from _files_of(child, f"{prefix}{child.name}/")
        elif child.name.endswith(tuple(MEDIA_TYPES)):
            yield prefix + child.name, child.read_bytes()
