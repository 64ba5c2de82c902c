"""The files of bundled packages in the artifact, read in place.

They are in archives inside the artifact, because its start reads the directory of the outer archive.  The directory of
the inner ones is a table that one step loads, and only a process that imports packages does.
"""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Mapping
from typing import TypedDict
from zipimport import zipimporter

from mcpc_runtime.artifact.packages.native_packages import Variant
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.artifact_file import entry_reader, file_state, watched

Row = tuple[int, int, int]
"""A file in an inner archive: the offset of its data, its length there, and its size, -1 if it is stored."""

INDEX, DIRECTORY = ".layer", ".directory"
"""The entries of a folder of packages that describe them: made by the compiler, and its inner archives' files."""
BYTECODE, SOURCES, EXTRACTED = "bytecode.zip", "sources.zip", "extracted.zip"
"""The inner archives: modules as bytecode, everything beside it, and what is extracted before it is imported."""
EXTRACTED_FOLDER = ".extracted/"
"""What the names of the files in the last one begin with, outside of it."""
# The window of 32 KiB, negative because entries of archives have no zlib header.
RAW_DEFLATE = -15


class NativePackage(TypedDict):
    """A native package: its variants, one for each platform."""

    variants: list[Variant]


class LayerIndex(TypedDict):
    """The index of a layer: modules by the number of their native package, namespace packages, and metadata."""

    modules: dict[str, int]
    namespaces: list[str]
    metadata: dict[str, str]
    parcels: list[NativePackage]


class PackageFiles:
    """The files of the packages in a folder of an artifact; raises OSError if it has none.

    `root`: the path by which they are named in `sys.path` and `__file__`.
    """

    def __init__(self, archive: str, folder: str) -> None:
        loader = zipimporter(archive)
        self.index: LayerIndex = marshal.loads(loader.get_data(f"{archive}/{folder}/{INDEX}"))
        tables: dict[str, dict[str, Row]] = marshal.loads(loader.get_data(f"{archive}/{folder}/{DIRECTORY}"))
        self.root = f"{archive}/{folder}"
        self.bytecode, self.sources, self.extracted = (tables.get(name, {}) for name in (BYTECODE, SOURCES, EXTRACTED))
        descriptor = system.open(archive, system.O_RDONLY | system.O_CLOEXEC)
        known = watched.get(archive) or file_state(descriptor)
        self._archives = {name: entry_reader(descriptor, known, loader, f"{folder}/{name}") for name in tables}

    def read_bytecode(self, name: str) -> bytes | None:
        """Return a module's file of bytecode, if there is one."""
        return self._read(BYTECODE, self.bytecode, name) if name in self.bytecode else None

    def read_file(self, name: str) -> bytes:
        """Return a file; raise FileNotFoundError if there is none."""
        if name in self.sources:
            return self._read(SOURCES, self.sources, name)
        data = self.read_bytecode(name)
        if data is None:
            raise FileNotFoundError(2, "No such file or directory", f"{self.root}/{name}")
        return data

    def read_extracted(self, name: str) -> bytes:
        """Return a file below EXTRACTED_FOLDER; raise FileNotFoundError if there is none."""
        path = name.removeprefix(EXTRACTED_FOLDER)
        if path not in self.extracted:
            raise FileNotFoundError(2, "No such file or directory", f"{self.root}/{name}")
        return self._read(EXTRACTED, self.extracted, path)

    def has_folder(self, name: str) -> bool:
        """Tell whether any file that is read in place is in a folder."""
        return any(path.startswith(f"{name}/") for rows in (self.sources, self.bytecode) for path in rows)

    def get_data(self, path: str) -> bytes:
        """Return a file by its whole path, as loaders do."""
        return self.read_file(self.name_of(path))

    def name_of(self, path: str) -> str:
        """Return the name of a file by its whole path; raise OSError if it is not one of these."""
        if not path.startswith(f"{self.root}/"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return path[len(self.root) + 1 :]

    def _read(self, archive: str, rows: Mapping[str, Row], name: str) -> bytes:
        offset, length, size = rows[name]
        data = self._archives[archive](offset, length)
        return data if size < 0 else zlib.decompress(data, RAW_DEFLATE, size or 1)
