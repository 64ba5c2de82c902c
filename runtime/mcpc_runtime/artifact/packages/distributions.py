"""Bundled packages as `importlib.metadata` describes installed ones: metadata, and the places of their files."""

from __future__ import annotations

from importlib.metadata import PathDistribution
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Any

    from mcpc_runtime.artifact.packages.paths import PackagePath


class BundledDistribution(PathDistribution):
    """A bundled package.  `extracted`: where a file of a native package is on disk, empty for all others."""

    def __init__(self, path: PackagePath, extracted: Callable[[str], str]) -> None:
        super().__init__(path)
        self._extracted = extracted

    def locate_file(self, path: str | PathLike[str]) -> Any:
        """Return the path of a file by its name beside the metadata."""
        place = self._extracted(str(path))
        return Path(place) if place else super().locate_file(path)
