"""One package as it was staged for each platform: what is the same everywhere, and what each platform has of its own.

Pure Python that is the same everywhere is imported from the archive.  A parcel is what a package must have in a folder:
its native modules and the libraries beside them; or all of it, where it looks for files beside its modules, where its
author says so, or where platforms have different Python.  A parcel has a variant for each wheel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from mcpc.dependencies.tree import UnfitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.dependencies.model import Distribution

NATIVE = re.compile(r"\.(?:so|dylib)(?:\.[\d.]+)?$")
EXTENSION = re.compile(r"(?P<stem>\w+)(?P<tag>\.(?:cpython-[\w-]+|abi3))?\.so$")
LOOKS_BESIDE_ITSELF = re.compile(rb"\b__file__\b")
NO_DATA = frozenset({".py", ".pyi", ".pyx", ".pxd", ".c", ".h", ".hpp", ".typed"})
"""What is source, or a mark for type checkers: no module reads it when it runs."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What one wheel has in a folder: the bytes of its files by their paths."""

    tags: tuple[str, ...]
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Parts:
    """A package taken apart.  `modules`: the dotted names that are found in the parcel."""

    distribution: Distribution
    tags: tuple[str, ...]
    plain: Mapping[str, bytes]
    variants: tuple[Variant, ...] = ()
    modules: frozenset[str] = field(default_factory=frozenset)


Wheel = tuple["Distribution", "Mapping[str, bytes]"]
"""A package as it was staged, and the bytes of its files."""


def apart(wheels: Sequence[Wheel], *, extracted: bool) -> Parts:
    """Take a package apart that was staged for one platform or several; raise UnfitError if that cannot be."""
    different = list({tuple(sorted(one.files.items())): (one, data) for one, data in wheels}.values())
    first, data = different[0]
    tags = tuple(sorted({tag for one, _ in different for tag in one.tags}))
    notes = {path: content for path, content in data.items() if path.startswith(f"{first.information}/")}
    own = [
        (one, {path: content for path, content in data.items() if not _is_note(path, one)}) for one, data in different
    ]
    pure = [{path: content for path, content in data.items() if not NATIVE.search(path)} for _, data in own]
    whole = extracted or any(map(looks_beside_itself, (data for _, data in own))) or any(one != pure[0] for one in pure)
    if whole:
        variants = [Variant(one.tags, files) for one, files in own]
        return Parts(first, tags, notes, _distinct(first, variants), frozenset(filter(None, _highest(own))))
    natives = [Variant(one.tags, {path: data[path] for path in data if NATIVE.search(path)}) for one, data in own]
    carried = [variant for variant in natives if variant.files]
    modules = frozenset(name for variant in carried for path in variant.files if (name := extension_name(path)))
    return Parts(first, tags, {**pure[0], **notes}, _distinct(first, carried), modules)


def _is_note(path: str, distribution: Distribution) -> bool:
    return path.startswith(f"{distribution.information}/")


def _distinct(distribution: Distribution, variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """Return the variants, of which no two may be for the same platform: nothing could choose between them."""
    seen: set[str] = set()
    for variant in variants:
        if seen & set(variant.tags):
            raise UnfitError(f"`{distribution.name}` has different files on two platforms, in wheels for both")
        seen.update(variant.tags)
    return tuple(sorted(variants, key=lambda variant: variant.tags))


def looks_beside_itself(files: Mapping[str, bytes]) -> bool:
    """Tell whether a package seems to read files by their place: it has some, and says `__file__`."""
    data = (path for path in files if PurePosixPath(path).suffix not in NO_DATA and not _is_tagged(path))
    has_data = any(not NATIVE.search(path) or ".libs/" not in path for path in data)
    return has_data and any(path.endswith(".py") and LOOKS_BESIDE_ITSELF.search(files[path]) for path in files)


def _is_tagged(path: str) -> bool:
    """Tell whether a file is an extension module for sure; a plain `.so` may be a library that is opened by name."""
    found = EXTENSION.fullmatch(PurePosixPath(path).name)
    return found is not None and found["tag"] is not None


def extension_name(path: str) -> str:
    """Return the dotted name by which a native file is imported; nothing if it is a library that others need."""
    place = PurePosixPath(path)
    found = EXTENSION.fullmatch(place.name)
    parents = place.parts[:-1]
    if found is None or not all(map(str.isidentifier, parents)):
        return ""
    return ".".join((*parents, *(() if found["stem"] == "__init__" else (found["stem"],))))


def module_name(path: str) -> str:
    """Return the dotted name of the module that a file is, nothing if it is none."""
    if not path.endswith(".py"):
        return extension_name(path)
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join(parts) if all(map(str.isidentifier, parts)) else ""


def namespaces(files: Iterable[str]) -> frozenset[str]:
    """Return the packages that have modules in them and no `__init__`, so that they are only a name."""
    there = set(files)
    folders = {folder for path in there if module_name(path) for folder in _folders(path)}
    return frozenset(folder.replace("/", ".") for folder in folders if f"{folder}/__init__.py" not in there)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders that a file lies in, the highest first."""
    parts = path.split("/")[:-1]
    yield from ("/".join(parts[: number + 1]) for number in range(len(parts)))


def _highest(wheels: Iterable[Wheel]) -> Iterator[str]:
    """Yield the highest names that only this package has: its packages, and modules that lie in none of them."""
    for _, files in wheels:
        shared = namespaces(files)
        for steps in (module_name(path).split(".") for path in files):
            names = (".".join(steps[: number + 1]) for number in range(len(steps)))
            yield next((name for name in names if name not in shared), "")
