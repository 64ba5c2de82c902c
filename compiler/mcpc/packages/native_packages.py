"""Packages with native code, staged for several platforms, split into common and platform-specific files.

Pure Python that is the same everywhere is imported from the archive.  Extracted into a folder are native modules and
the libraries beside them; or the whole package, if it reads files beside its modules, if its author requires it, or if
platforms have different Python.  There is a variant for each wheel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from mcpc.packages.installed_files import UnfitPackageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.packages.model import Distribution

NATIVE = re.compile(r"\.(?:(?:so|dylib)(?:\.[\d.]+)?|pyd|dll)$")
# `_x.cpython-312-x86_64-linux-gnu.so`, `_x.abi3.so`, `_x.cp312-win_amd64.pyd`, or without a tag.
EXTENSION = re.compile(r"(?P<stem>\w+)(?P<tag>\.(?:cpython-[\w-]+|abi3|cp\d+-win\w+))?\.(?:so|pyd)$")
READS_FILES = re.compile(
    rb"\b(?:__file__|__path__\[|importlib\.resources|importlib_resources|pkg_resources|pkgutil\.get_data)"
    rb"|\bfrom importlib import [^\n]*\bresources\b|\bfrom pkgutil import [^\n]*\bget_data\b"
)
"""How code gets at files beside its modules.  Some of it works from an archive, but not what opens a path of it."""
MODULE_FILE = re.compile(rb"[\"'](?:[\w.-]*/)*(?!__init__|__main__)(\w+\.py)[\"']")
"""The name of a module's file in a text: code that reads it runs it itself (`_static_version.py`)."""
NOT_DATA = frozenset({".py", ".pyi", ".pyx", ".pxd", ".c", ".h", ".hpp", ".typed"})
"""Sources and markers for type checkers: modules do not read them at run time."""


@dataclass(frozen=True, slots=True)
class WheelVariant:
    """The extracted files of one wheel, by path."""

    tags: tuple[str, ...]
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class SplitPackage:
    """A split package.  `modules`: the dotted names that are found in the extracted part."""

    distribution: Distribution
    tags: tuple[str, ...]
    plain: Mapping[str, bytes]
    variants: tuple[WheelVariant, ...] = ()
    modules: frozenset[str] = field(default_factory=frozenset)

    def files(self) -> dict[str, bytes]:
        """Return all its files, of the variants those of any."""
        return {**self.plain, **{path: data for variant in self.variants for path, data in variant.files.items()}}


Wheel = tuple["Distribution", "Mapping[str, bytes]"]
"""A staged package, and the bytes of its files."""


def split_package(wheels: Sequence[Wheel], *, extracted: bool) -> SplitPackage:
    """Split a package that was staged for one platform or several; raise UnfitPackageError if that is impossible."""
    # Wheels of two platforms with the same files count once.
    different = list({tuple(sorted(wheel.files.items())): (wheel, data) for wheel, data in wheels}.values())
    first, data = different[0]
    tags = tuple(sorted({tag for item, _ in different for tag in item.tags}))
    notes = {path: content for path, content in data.items() if path.startswith(f"{first.information}/")}
    own = [
        (item, {path: content for path, content in data.items() if not path.startswith(f"{item.information}/")})
        for item, data in different
    ]
    pure = [{path: content for path, content in data.items() if not NATIVE.search(path)} for _, data in own]
    whole = extracted or any(map(reads_own_files, (data for _, data in own))) or any(item != pure[0] for item in pure)
    if whole:
        variants = [WheelVariant(item.tags, files) for item, files in own]
        return SplitPackage(first, tags, notes, _distinct(first, variants), frozenset(filter(None, _own_names(own))))
    natives = [
        WheelVariant(item.tags, {path: data[path] for path in data if NATIVE.search(path)}) for item, data in own
    ]
    carried = [variant for variant in natives if variant.files]
    modules = frozenset(name for variant in carried for path in variant.files if (name := extension_name(path)))
    return SplitPackage(first, tags, {**pure[0], **notes}, _distinct(first, carried), modules)


def _distinct(distribution: Distribution, variants: Sequence[WheelVariant]) -> tuple[WheelVariant, ...]:
    """Return the variants, no two of which may be for the same platform: the choice would be ambiguous."""
    seen: set[str] = set()
    for variant in variants:
        if seen & set(variant.tags):
            raise UnfitPackageError(f"`{distribution.name}` has different files on two platforms, in wheels for both")
        seen.update(variant.tags)
    return tuple(sorted(variants, key=lambda variant: variant.tags))


def reads_own_files(files: Mapping[str, bytes]) -> bool:
    """Tell whether a package seems to read its data files, or modules that it names, and has a means to find them."""
    data = (path for path in files if PurePosixPath(path).suffix not in NOT_DATA and not _is_tagged(path))
    # Tools that repair wheels put libraries into `NAME.libs`, where the loader finds them without the package's code.
    has_data = any(not NATIVE.search(path) or ".libs/" not in path for path in data)
    names = {PurePosixPath(path).name.encode() for path in files}
    readers = (data for path, data in files.items() if path.endswith(".py") and READS_FILES.search(data))
    return any(has_data or not names.isdisjoint(MODULE_FILE.findall(data)) for data in readers)


def _is_tagged(path: str) -> bool:
    """Tell whether a file is certainly an extension module; a plain `.so` may be a library that is opened by name."""
    found = EXTENSION.fullmatch(PurePosixPath(path).name)
    return found is not None and found["tag"] is not None


def extension_name(path: str) -> str:
    """Return the dotted name of a native module; an empty string for a library that others need."""
    place = PurePosixPath(path)
    found = EXTENSION.fullmatch(place.name)
    parents = place.parts[:-1]
    if found is None or not all(map(str.isidentifier, parents)):
        return ""
    return ".".join((*parents, *(() if found["stem"] == "__init__" else (found["stem"],))))


def module_name(path: str) -> str:
    """Return the dotted name of the module in a file; an empty string if it is not a module."""
    if not path.endswith(".py"):
        return extension_name(path)
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join(parts) if all(map(str.isidentifier, parts)) else ""


def namespace_packages(files: Iterable[str]) -> frozenset[str]:
    """Return the packages that contain modules and no `__init__`, so that they are only namespaces."""
    there = set(files)
    folders = {folder for path in there if module_name(path) for folder in _folders(path)}
    return frozenset(folder.replace("/", ".") for folder in folders if f"{folder}/__init__.py" not in there)


def archive_namespaces(plain: Iterable[str], extracted: Iterable[str], owned: Iterable[str]) -> frozenset[str]:
    """Return the namespace packages that are found in the archive.

    `plain`: the files in the archive; `extracted`: those of extracted packages; `owned`: the names found there.  What
    is below an extracted package is found by its path: in the archive it would be empty.
    """
    plain = set(plain)
    owned = frozenset(owned)
    there = namespace_packages(plain)
    return frozenset(
        name
        for name in namespace_packages({*plain, *extracted})
        if name in there
        or owned.isdisjoint(folder.replace("/", ".") for folder in _folders(f"{name.replace('.', '/')}/"))
    )


def _folders(path: str) -> Iterator[str]:
    """Yield the folders that contain a file, the highest first."""
    parts = path.split("/")[:-1]
    yield from ("/".join(parts[: number + 1]) for number in range(len(parts)))


def _own_names(wheels: Iterable[Wheel]) -> Iterator[str]:
    """Yield the highest names that only this package has: its packages, and modules outside them."""
    for _, files in wheels:
        shared = namespace_packages(files)
        for steps in (module_name(path).split(".") for path in files):
            names = (".".join(steps[: number + 1]) for number in range(len(steps)))
            yield next((name for name in names if name not in shared), "")
