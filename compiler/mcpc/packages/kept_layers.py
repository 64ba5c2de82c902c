"""Layers of earlier builds: splitting the same packages again gives the same, and takes longer than reading the result.

An entry has no bytes of packages: it says which staged file each file of the layer is. They are read when they are
needed, and checked against their digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.model.ir import Layer, Package, PackageContents, PackageRequirement
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.sandbox.cache_dir import code_digest, load_entry, store_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.model import StagedPackages

KIND = "layers"


class StagedFiles(Mapping[str, bytes]):
    """The files of a layer, read from staged folders; `texts`: those that are only in the layer."""

    def __init__(self, digests: Mapping[str, str], places: Mapping[str, Path], texts: Mapping[str, str]) -> None:
        self.digests, self.places, self.texts = digests, places, texts

    def __getitem__(self, path: str) -> bytes:
        if path in self.texts:
            return self.texts[path].encode("utf-8", "surrogateescape")
        data = self.places[path].read_bytes()
        if hashlib.sha256(data).hexdigest() != self.digests[path]:
            raise UnfitPackageError(f"`{path}` was changed while the packages were read")
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self.digests)

    def __len__(self) -> int:
        return len(self.digests)


def layer_key(staged: Sequence[StagedPackages], wanted: Iterable[RequestedPackage], own: frozenset[str]) -> str:
    """Return the digest of all that decides a layer: the files of packages, the requirements, the project's modules."""
    inputs = {
        "code": code_digest(Path(__file__).parent),
        "staged": [
            (stage.platform, stage.python, sorted(stage.modules), [asdict(item) for item in stage.distributions])
            for stage in staged
        ],
        "wanted": [(item.name, item.text, item.extracted) for item in wanted],
        "own": sorted(own),
    }
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def store_layer(name: str, layer: Layer, staged: Sequence[StagedPackages]) -> None:
    """Keep a layer: its facts, and the stage and the path of each of its files."""
    by_digest = {
        digest: (number, path)
        for number, stage in enumerate(staged)
        for item in stage.distributions
        for path, digest in item.files.items()
    }
    rows = {
        path: by_digest.get(digest) or layer.files[path].decode("utf-8", "surrogateescape")
        for path, digest in layer.digests.items()
    }
    facts = {
        "packages": [asdict(item) for item in layer.packages],
        "modules": sorted(layer.modules),
        "index": layer.index,
        "digests": dict(layer.digests),
        "files": rows,
        "brings": {item.name: sorted(item.brings) for item in layer.asked},
        "contents": {
            package: [item.size, *map(sorted, (item.modules, item.uses, item.extends, item.imports))]
            for package, item in layer.contents.items()
        },
    }
    store_entry(KIND, name, json.dumps(facts).encode())


def load_layer(name: str, staged: Sequence[StagedPackages], wanted: Iterable[RequestedPackage]) -> Layer | None:
    """Return the layer that was kept under a name, with its files in the staged folders; None without one."""
    kept = load_entry(KIND, name)
    if kept is None:
        return None
    facts = json.loads(kept)
    places = {path: staged[row[0]].root / row[1] for path, row in facts["files"].items() if isinstance(row, list)}
    texts = {path: row for path, row in facts["files"].items() if isinstance(row, str)}
    spans = {item.name: item.span for item in reversed([*wanted])}
    return Layer(
        tuple(
            Package(**{**row, "tags": tuple(row["tags"]), "paths": tuple(row["paths"])}) for row in facts["packages"]
        ),
        frozenset(facts["modules"]),
        facts["index"],
        StagedFiles(facts["digests"], places, texts),
        facts["digests"],
        asked=tuple(
            PackageRequirement(package, spans[package], frozenset(names)) for package, names in facts["brings"].items()
        ),
        contents={
            package: PackageContents(frozenset(modules), size, *map(frozenset, others))
            for package, (size, modules, *others) in facts["contents"].items()
        },
    )
