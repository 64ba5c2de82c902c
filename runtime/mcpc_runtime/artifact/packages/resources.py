"""Files of bundled packages for `importlib.resources`, read from the artifact."""

from __future__ import annotations

from importlib.resources.abc import TraversableResources

from mcpc_runtime.artifact.packages.package_files import PackageFiles
from mcpc_runtime.artifact.packages.paths import PackagePath


class PackageResources(TraversableResources):
    """The files of a package."""

    def __init__(self, files: PackageFiles, folder: str) -> None:
        self._files = files
        self._folder = folder

    def files(self) -> PackagePath:
        """Return the folder of the package."""
        return PackagePath(self._files, self._folder)
