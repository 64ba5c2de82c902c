"""The packages a server carries: pure Python is imported out of the archive as it lies, the rest extracted when needed.

A parcel is what a package must have in a folder: native modules and the libraries beside them, or all of a package that
looks for files beside its modules.  It is extracted by the first import that wants something of it, and not before.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import ModuleSpec, PathFinder
from zipimport import ZipImportError, zipimporter

from mcpc_runtime.layer.metadata import InArchive
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from mcpc_runtime.layer.parcels import Variant

    Parcel = dict[str, Any]
    from importlib.metadata import PathDistribution

    from mcpc_runtime.layer.parcels import spec_of
    from mcpc_runtime.layer.tags import fitting as tags_fitting
    from mcpc_runtime.layer.tags import refusal
else:
    PathDistribution = lazy("importlib.metadata:PathDistribution")
    refusal = lazy("mcpc_runtime.layer.tags:refusal")
    spec_of = lazy("mcpc_runtime.layer.parcels:spec_of")
    tags_fitting = lazy("mcpc_runtime.layer.tags:fitting", "tags_fitting")

SITE = "site"
INDEX = ".layer.json"


def activate(archive: str, folder: str = SITE) -> None:
    """Have imports find what a folder of the archive carries, behind the handlers and the standard library."""
    try:
        loader = zipimporter(archive)
        index = json.loads(loader.get_data(f"{archive}/{folder}/{INDEX}"))
    except (ZipImportError, OSError):
        return  # it carries nothing
    sys.path.append(f"{archive}/{folder}")
    sys.meta_path.insert(0, Finder(archive, loader, index, folder))


class Finder:
    """Finds modules that lie in parcels, packages that are only a name, and the metadata of all that is carried."""

    def __init__(self, archive: str, loader: zipimporter, index: dict[str, Any], folder: str = SITE) -> None:
        self._archive = archive
        self._folder = folder
        self._loader = loader
        self._modules: dict[str, int] = index["modules"]
        self._namespaces = frozenset(index["namespaces"])
        self._metadata: dict[str, str] = index["metadata"]
        self._parcels: list[Parcel] = index["parcels"]

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return how a module is loaded, if it is in a parcel or a name that packages share."""
        number = self._modules.get(name)
        if number is not None:
            return self._in_parcel(name, self._parcels[number], path)
        return self._shared_name(name) if name in self._namespaces else None

    def find_distributions(self, context: Any) -> Iterator[Any]:
        """Yield the metadata of the packages that `importlib.metadata` asks for."""
        wanted = None if context.name is None else context.name.lower().replace("_", "-").replace(".", "-")
        for name, folder in self._metadata.items():
            if wanted in (None, name):
                place = InArchive(self._loader, f"{self._archive}/{self._folder}/{folder}")
                yield PathDistribution(place)

    def _in_parcel(self, name: str, parcel: Parcel, path: Sequence[str] | None) -> ModuleSpec | None:
        fitting: Variant | None = tags_fitting(parcel["variants"])
        if fitting is not None:
            spec: ModuleSpec | None = spec_of(name, fitting, self._read)
            return spec
        instead = PathFinder.find_spec(name, path)
        if instead is not None and instead.loader is not None:
            return instead  # there is the same in Python
        raise ImportError(f"{name}: {refusal(parcel['variants'])}", name=name)

    def _read(self, path: str) -> bytes:
        data: bytes = self._loader.get_data(f"{self._archive}/{self._folder}/{path}")
        return data

    def _shared_name(self, name: str) -> ModuleSpec:
        """Return the package that has no file of its own; not every zipimport finds one by its folder."""
        spec = ModuleSpec(name, None, is_package=True)
        below = name.replace(".", "/")
        spec.submodule_search_locations = [f"{self._archive}/{place}/{below}" for place in ("handlers", self._folder)]
        return spec
