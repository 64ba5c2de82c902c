"""Import of bundled packages: pure Python directly from the archive, native packages after extraction.

A native package has files that must be in a folder: native modules and the libraries beside them, or all files of a
package that reads files beside its modules.  It is extracted by the first import of one of its modules.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import DistributionFinder
from zipimport import ZipImportError

from mcpc_runtime.artifact.packages.importer import add_packages, namespace_spec
from mcpc_runtime.artifact.packages.native_packages import (
    Variant,
    extracted_package,
    find_module_spec,
    find_variant,
    unsupported_text,
)
from mcpc_runtime.artifact.packages.package_files import NativePackage, PackageFiles
from mcpc_runtime.artifact.packages.paths import BundledDistribution, PackagePath

SITE, SERVING = "site", "serving"
"""The folders of packages: those that handlers import, and those that the server itself does."""
activated: set[tuple[str, str]] = set()


def activate_packages(archive: str, folder: str = SITE) -> bool:
    """Make the packages in a folder of the archive importable, once, after all other modules; return whether any exist.

    The project's own modules and the standard library come before them.
    """
    if (archive, folder) in activated:
        return True
    try:
        files = PackageFiles(archive, folder)
    except (ZipImportError, OSError):
        return False
    add_packages(files)
    sys.meta_path.insert(0, PackageFinder(files, f"{archive}/handlers"))
    activated.add((archive, folder))
    return True


def activate_server_packages(archive: str) -> bool:
    """Make the packages importable that the server itself needs; return whether there are any."""
    return activate_packages(archive, SERVING)


class PackageFinder:
    """Finds modules of native packages, namespace packages, and the metadata of all bundled packages.

    `project`: the folder of the project's own modules, which namespace packages may have parts in.
    """

    def __init__(self, files: PackageFiles, project: str) -> None:
        self._files = files
        self._roots = (project, files.root)
        index = files.index
        self._modules = index["modules"]
        self._namespaces = frozenset(index["namespaces"])
        self._metadata = index["metadata"]
        self._packages = index["parcels"]

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a module of a native package, or of a namespace package."""
        number = self._modules.get(name)
        if number is not None:
            return self._native_spec(name, self._packages[number], path)
        return self._namespace_spec(name) if name in self._namespaces else None

    def find_distributions(self, context: DistributionFinder.Context) -> Iterator[BundledDistribution]:
        """Yield the metadata of the packages that match `context`."""
        # As PEP 503 normalises names, but for runs of these characters.
        requested = None if context.name is None else context.name.lower().replace("_", "-").replace(".", "-")
        for name, folder in self._metadata.items():
            if requested in (None, name):
                yield BundledDistribution(PackagePath(self._files, folder), self._extracted_path)

    def _extracted_path(self, path: str) -> str:
        """Return where a file or a folder of a native package is, empty for what is read in the archive."""
        for package in self._packages:
            variant = find_variant(package["variants"])
            files = () if variant is None else variant["files"]
            if variant is not None and (path in files or any(name.startswith(f"{path}/") for name in files)):
                folder = extracted_package(path.partition("/")[0], variant, self._files.read_extracted)
                return f"{folder}/{path}"
        return ""

    def _native_spec(self, name: str, package: NativePackage, path: Sequence[str] | None) -> ModuleSpec | None:
        variant: Variant | None = find_variant(package["variants"])
        if variant is not None:
            return find_module_spec(name, variant, self._files.read_extracted)
        python_spec = PathFinder.find_spec(name, path)
        if python_spec is not None and python_spec.has_location:
            return python_spec  # a pure Python module with the same name
        raise ImportError(f"{name}: {unsupported_text(package['variants'])}", name=name)

    def _namespace_spec(self, name: str) -> ModuleSpec:
        """Return the spec of a namespace package, which no importer of an archive finds by its folder."""
        below = name.replace(".", "/")
        return namespace_spec(name, self._files, [f"{root}/{below}" for root in self._roots])
