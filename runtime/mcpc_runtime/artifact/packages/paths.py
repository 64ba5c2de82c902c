"""Paths of files of bundled packages, as `importlib.metadata` and `importlib.resources` hand them to a program.

They have the methods of the paths that the interpreter's own importer of archives gives (`zipfile.Path`).  Bundled
packages are described as installed ones: by their metadata, and the places of their files.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from importlib.metadata import PathDistribution
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

from mcpc_runtime.artifact.packages.package_files import PackageFiles

PURE = frozenset({"anchor", "as_posix", "as_uri", "is_absolute", "is_relative_to", "match", "parts", "relative_to"})
"""What a path has of `pathlib.PurePosixPath`, besides what is defined here."""


class PackagePath:
    """A file or folder among the bundled packages, by its name in their folder; that folder has an empty name."""

    __slots__ = ("_files", "_path")

    def __init__(self, files: PackageFiles, path: str) -> None:
        self._files = files
        self._path = path

    def __str__(self) -> str:
        """Return the whole path."""
        return f"{self._files.root}/{self._path}" if self._path else self._files.root

    def __repr__(self) -> str:
        """Return the path as code."""
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        """Tell whether both are the same path."""
        return isinstance(other, PackagePath) and str(self) == str(other)

    def __hash__(self) -> int:
        """Return the same for the same path."""
        return hash(str(self))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._pure.name

    @property
    def stem(self) -> str:
        """The last part without its suffix."""
        return self._pure.stem

    @property
    def suffix(self) -> str:
        """The suffix of the last part, with its dot."""
        return self._pure.suffix

    @property
    def suffixes(self) -> list[str]:
        """All suffixes of the last part, with their dots."""
        return self._pure.suffixes

    @property
    def parent(self) -> PackagePath:
        """The folder that the path is in; that of all packages is in itself."""
        return PackagePath(self._files, self._path.rpartition("/")[0])

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(str(self))

    @property
    def parents(self) -> tuple[PackagePath, ...]:
        """The folders that the path is in, the nearest first."""
        above = self.parent
        return (above, *above.parents) if self._path else ()

    def absolute(self) -> PackagePath:
        """Return the path, which is absolute."""
        return self

    resolve = absolute

    def __getattr__(self, name: str) -> Any:
        """Return what the text of the path decides: `parts`, `as_posix`, `match` and the like."""
        if name not in PURE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._pure, name)

    def iterdir(self) -> Iterator[PackagePath]:
        """Yield what is in the folder."""
        start = f"{self._path}/" if self._path else ""
        names = (path for rows in (self._files.sources, self._files.bytecode) for path in rows)
        below = {path[len(start) :].partition("/")[0] for path in names if path.startswith(start)}
        below -= {f"{name}c" for name in below}  # the bytecode of a source, which an installation has elsewhere
        return (PackagePath(self._files, start + name) for name in sorted(below))

    def exists(self) -> bool:
        """Tell whether it is a file or a folder that exists."""
        return self.is_file() or self.is_dir()

    def is_dir(self) -> bool:
        """Tell whether it is a folder that exists."""
        return self._path == "" or self._files.has_folder(self._path)

    def is_file(self) -> bool:
        """Tell whether it is a file that exists."""
        return self._path in self._files.sources or self._path in self._files.bytecode

    def joinpath(self, *descendants: object) -> PackagePath:
        """Return a path below this one."""
        parts = [part for each in descendants for part in str(each).split("/") if part not in ("", ".")]
        return PackagePath(self._files, "/".join([*([self._path] if self._path else []), *parts]))

    __truediv__ = joinpath

    def read_bytes(self) -> bytes:
        """Return the content of the file; raise FileNotFoundError if there is none."""
        return self._files.read_file(self._path)

    def read_text(self, encoding: str | None = None) -> str:
        """Return the content of the file as text."""
        # Metadata is in UTF-8, whatever the locale says.
        with self.open(encoding=encoding or "utf-8") as file:
            text: str = file.read()
            return text

    def open(self, mode: str = "r", *arguments: Any, **keywords: Any) -> Any:
        """Open the file for reading, as bytes or as text."""
        file = io.BytesIO(self.read_bytes())
        return file if "b" in mode else io.TextIOWrapper(file, *arguments, **keywords)


class BundledDistribution(PathDistribution):
    """A bundled package.  `extracted`: where a file of a native package is on disk, empty for all others."""

    def __init__(self, path: PackagePath, extracted: Callable[[str], str]) -> None:
        super().__init__(path)
        self._extracted = extracted

    def locate_file(self, path: str | PathLike[str]) -> Any:
        """Return the path of a file by its name beside the metadata."""
        place = self._extracted(str(path))
        return Path(place) if place else super().locate_file(path)
