"""Import of bundled packages from the artifact: finder and loader of one folder of them.

It replaces the interpreter's own importer for these folders, which would read and check each module several times.
Packages look at what is in `sys.path_hooks` and at finders, loaders and specs: these have what Python's own have.
"""

from __future__ import annotations

import marshal
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, NamespaceLoader, _LoaderBasics
from collections.abc import Callable, Iterator
from importlib.resources.abc import TraversableResources
from importlib.util import decode_source
from types import CodeType, ModuleType

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


PYC_HEADER = 16
FORMS = (("/__init__.py", True), (".py", False))
"""What the file of a module is called, and whether it is a package."""


class PackageImporter(_LoaderBasics):
    """Finds and loads the modules in one folder of bundled packages.

    `archive` and `prefix` are what code expects of importers of archives: the folder with all packages, and the folder
    in it; `path` is what it expects of those of folders.
    """

    def __init__(self, files: PackageFiles, folder: str) -> None:
        self._files = files
        self.archive = files.root
        self.prefix = f"{folder}/" if folder else ""
        self.path = f"{files.root}/{folder}" if folder else files.root

    @classmethod
    def path_hook(cls, files: PackageFiles) -> Callable[[str], PackageImporter]:
        """Return what makes the importer of a folder of packages, and of those below it; it refuses other paths."""

        def path_hook_for_packages(path: str) -> PackageImporter:
            root = files.root
            if path != root and not path.startswith(f"{root}/"):
                raise ImportError(f"{path} is not a folder of bundled packages", path=path)
            return cls(files, path[len(root) + 1 :])

        return path_hook_for_packages

    def find_spec(self, name: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module, or of a folder without one: below a package it is a namespace package."""
        form = self._find(name)
        if form is None:
            folder = self.prefix + name.rpartition(".")[2]
            is_there = self.prefix and self._files.has_folder(folder)
            return namespace_spec(name, self._files, [f"{self.archive}/{folder}"]) if is_there else None
        file, is_package = form
        spec = ModuleSpec(name, self, origin=f"{self.archive}/{file}", is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(f"{self.archive}/{file.removesuffix('/__init__.py')}")
        return spec

    def _find(self, name: str) -> tuple[str, bool] | None:
        """Return the file of a module, and whether it is a package; the file of its source, if it is only bytecode."""
        files = self._files
        path = self.prefix + name.rpartition(".")[2]
        for form, is_package in FORMS:
            file = path + form
            if f"{file}c" in files.bytecode or file in files.sources:
                return file, is_package
        return None

    def _file(self, name: str) -> tuple[str, bool]:
        form = self._find(name)
        if form is None:
            raise ImportError(f"can't find module {name!r}", name=name)
        return form

    def get_code(self, name: str) -> CodeType:
        """Return the code of a module: the bytecode if it is of this Python, else compiled from the source."""
        file, _ = self._file(name)
        data = self._files.read_bytecode(f"{file}c")
        if data is not None and data.startswith(MAGIC_NUMBER):
            # A view, because a slice of bytes would be a copy.
            code: CodeType = marshal.loads(memoryview(data)[PYC_HEADER:])
            return code
        return compile(self._files.read_file(file), f"{self.archive}/{file}", "exec", dont_inherit=True)

    def get_source(self, name: str) -> str | None:
        """Return the source of a module, None if only its bytecode is included."""
        file, _ = self._file(name)
        return decode_source(self._files.read_file(file)) if file in self._files.sources else None

    def get_filename(self, name: str) -> str:
        """Return the path of a module."""
        return f"{self.archive}/{self._file(name)[0]}"

    def is_package(self, name: str) -> bool:
        """Tell whether a module is a package."""
        return self._file(name)[1]

    def get_data(self, path: str) -> bytes:
        """Return the content of a file; raise OSError if there is none."""
        return self._files.get_data(path)

    def get_resource_reader(self, name: str) -> PackageResources | None:
        """Return what `importlib.resources` reads the files of a package with."""
        file, is_package = self._file(name)
        return PackageResources(self._files, file.removesuffix("/__init__.py")) if is_package else None

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """Yield the modules in this folder, as `pkgutil` asks for them, and whether they are packages."""
        packages: dict[str, bool] = {}
        for path in sorted({*self._files.bytecode, *self._files.sources}):
            below = path.removeprefix(self.prefix) if path.startswith(self.prefix) else ""
            module, _, rest = below.partition("/")
            if rest in ("__init__.py", "__init__.pyc"):
                packages[module] = True
            elif not rest and module.endswith((".py", ".pyc")) and not module.startswith("__init__."):
                packages.setdefault(module.rpartition(".")[0], False)
        return ((prefix + name, is_package) for name, is_package in sorted(packages.items()))

    def invalidate_caches(self) -> None:
        """Keep the directory: the artifact does not change."""


class NamespaceImporter(NamespaceLoader):
    """Loads a namespace package: it has no code, and may have files.  `path`: its folders."""

    def __init__(self, files: PackageFiles, path: list[str]) -> None:
        self._files = files
        self._path = path

    def exec_module(self, module: ModuleType) -> None:
        """Do what the import system does for a namespace package: it has no file."""
        module.__file__ = None

    def get_resource_reader(self, name: str) -> PackageResources:  # type: ignore[override]
        """Return what `importlib.resources` reads the files of the package with."""
        return PackageResources(self._files, name.replace(".", "/"))


def namespace_spec(name: str, files: PackageFiles, path: list[str]) -> ModuleSpec:
    """Return the spec of a namespace package.  `path`: its folders."""
    spec = ModuleSpec(name, NamespaceImporter(files, path), is_package=True)
    spec.submodule_search_locations = path
    return spec


def add_packages(files: PackageFiles) -> None:
    """Make the packages importable, after everything that is on the path."""
    # First, because the hook of `zipimport` takes every path in an archive.
    sys.path_hooks.insert(0, PackageImporter.path_hook(files))
    sys.path.append(files.root)
