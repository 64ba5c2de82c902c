"""Installed packages in the cache: their folders, and layers of earlier builds.

A file is read again only if the file system says that it may have changed since it had its digest: its size, its times
or its number differ. The time of a change of status cannot be set by a program.

An entry has no bytes of packages: it says which staged file each file of the layer is. They are read when they are
needed, and checked against their digests.

Where packages were compiled for a built file, their bytecode lies beside them, too: a build that imports the project
does not compile them. Bytecode that is not as it was written is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.model.ir import Layer, Package, PackageContents, PackageRequirement
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.packages.model import Distribution
from mcpc.sandbox.cache_dir import code_digest, is_private, kind_folder, load_entry, prune_entries, store_entry
from mcpc.sandbox.platforms import file_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.model import StagedPackages

if TYPE_CHECKING:
    States = dict[str, tuple[str, list[int]]]

FILES, DESCRIPTION, STATES = "files", "staged.json", "states.json"
BYTECODE, BYTECODE_STATES = "bytecode.json", "bytecode-states.json"


def load_folder(folder: Path) -> tuple[Distribution, ...] | None:
    """Return the packages in a folder that was filled before; None if it was not, or was changed."""
    if not is_private(folder):
        return None
    try:
        rows = json.loads((folder / DESCRIPTION).read_bytes())
        distributions = tuple(Distribution(**{**row, "tags": tuple(row["tags"])}) for row in rows)
        digests = {path: digest for item in distributions for path, digest in item.files.items()}
        if any(changed_files(folder, digests, STATES)):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    remove_changed_bytecode(folder)
    with suppress(OSError):
        os.utime(folder)  # it was used
    return distributions


def changed_files(folder: Path, digests: Mapping[str, str], record: str) -> Iterator[str]:
    """Yield the files that have not their digests, and record the state of each of the others."""
    try:
        # JSON has lists only, and a tuple never equals a list.
        before: States = {path: tuple(row) for path, row in json.loads((folder / record).read_bytes()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        before = {}
    states: States = {}
    start = f"{folder / FILES}{os.sep}"
    for path, digest in digests.items():
        with suppress(FileNotFoundError):
            state = digest, file_state(start + path)
            is_known = bool(state[1]) and before.get(path) == state
            if is_known or hashlib.sha256(Path(start + path).read_bytes()).hexdigest() == digest:
                states[path] = state
        if path not in states:
            yield path
    if states != before:
        with suppress(OSError):
            (folder / record).write_text(json.dumps(states), encoding="utf-8")


def keep_bytecode(root: Path, compiled: Iterable[tuple[str, str, bytes]], tag: str) -> None:
    """Write the bytecode of staged files beside them, where an import finds it; a cache that is read-only does without.

    `compiled`: paths, digests and code of sources, of which staged ones count. `tag`: that of the Python.
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        rows = json.loads((root.parent / DESCRIPTION).read_bytes())
        sources = {path: digest for row in rows for path, digest in row["files"].items()}
        codes = {bytecode_place(path, tag): code for path, digest, code in compiled if sources.get(path) == digest}
        digests = {path: hashlib.sha256(data).hexdigest() for path, data in codes.items()}
        # Before the files, so that none is without a digest.
        (root.parent / BYTECODE).write_text(json.dumps(digests), encoding="utf-8")
        with tempfile.TemporaryDirectory(dir=root.parent, prefix="new-") as folder:
            for path, data in codes.items():
                (root / path).parent.mkdir(exist_ok=True)
                new = Path(folder, "new")
                new.write_bytes(data)
                new.replace(root / path)  # another build may import it now


def bytecode_place(path: str, tag: str) -> str:
    """Return where Python looks for the bytecode of a source."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}__pycache__/{name.removesuffix('.py')}.{tag}.pyc"


def remove_changed_bytecode(folder: Path) -> None:
    """Remove bytecode that is not what was written."""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        for path in changed_files(folder, json.loads((folder / BYTECODE).read_bytes()), BYTECODE_STATES):
            (folder / FILES / path).unlink(missing_ok=True)


def fill_folder(folder: Path, install: Callable[[Path], tuple[Distribution, ...]]) -> tuple[Distribution, ...]:
    """Install into a folder beside `folder`, and rename it when it is complete."""
    kind_folder(folder.parent.name)
    filled = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        distributions = install(filled)
        (filled / DESCRIPTION).write_text(
            json.dumps([asdict(distribution) for distribution in distributions]), encoding="utf-8"
        )
        _rename(filled, folder)
    finally:
        shutil.rmtree(filled, ignore_errors=True)
    prune_entries(folder.parent.name)
    return distributions


def _rename(filled: Path, folder: Path) -> None:
    """Rename a filled folder; another process may have created the same one, which is used unless it was changed."""
    try:
        filled.rename(folder)
    except OSError:
        if load_folder(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                filled.rename(folder)


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
        # What no staged folder has was made for the layer; it is kept as text.
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
    # Reversed, so that of several requirements with one name the first one counts.
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
