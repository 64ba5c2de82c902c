"""A folder of metadata in the archive, as much of a path as `importlib.metadata` asks of one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zipimport import zipimporter


class InArchive:
    """A place in the archive that `loader` reads."""

    __slots__ = ("_loader", "_path")

    def __init__(self, loader: zipimporter, path: str) -> None:
        self._loader = loader
        self._path = path

    def __str__(self) -> str:
        """Return the path as one text."""
        return self._path

    def __truediv__(self, name: object) -> InArchive:
        """Return a place below this one."""
        return InArchive(self._loader, f"{self._path}/{name}")

    joinpath = __truediv__

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._path.rpartition("/")[2]

    @property
    def parent(self) -> InArchive:
        """The folder in which this lies."""
        return InArchive(self._loader, self._path.rpartition("/")[0])

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return what the file says; raise FileNotFoundError if there is none."""
        try:
            return self._loader.get_data(self._path).decode(encoding)
        except OSError:
            raise FileNotFoundError(self._path) from None
