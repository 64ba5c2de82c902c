"""Copy of a project's Node packages to the bundling folder: required ones, and their requirements.

They keep their paths below `node_modules`, so that the output contains the same paths wherever it is built.  A symlink
is followed inside that folder, as package managers create them; one that leaves it is refused.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.bundling.node import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REQUIREMENT_KEYS = ("dependencies", "peerDependencies", "optionalDependencies")


class OutsidePackagesError(Exception):
    """A package is outside the folder of packages."""


def package_name(specifier: str) -> str:
    """Return the package that an import names."""
    parts = specifier.split("/")
    return "/".join(parts[: 2 if specifier.startswith("@") else 1])


def has_packages(root: Path, wanted: Iterable[str]) -> bool:
    """Tell whether the packages are installed in a project."""
    return all((root / MODULES / name / "package.json").is_file() for name in wanted)


def copy_with_requirements(root: Path, wanted: Iterable[str], target: Path) -> None:
    """Copy packages of `root`, and their requirements, to the same paths below `target`; raise OutsidePackagesError."""
    base = (root / MODULES).resolve()
    todo = [(base, name) for name in wanted]
    seen: set[Path] = set()
    while todo:
        where, name = todo.pop()
        found = find_package(base, where, name)
        if found is None:
            continue  # whoever imports it is told at that import
        real = found.resolve()
        if not real.is_relative_to(base):
            raise OutsidePackagesError(f"`{name}` leads outside of `{MODULES}`")
        if found != real:
            copy_symlink(found, base, target)
        if real not in seen:
            seen.add(real)
            copy_package(real, target / MODULES / real.relative_to(base))
            todo += [(real, need) for need in requirements_of(real)]


def find_package(base: Path, where: Path, name: str) -> Path | None:
    """Return the package that code at `where` imports by a name, with Node's lookup."""
    for above in (where, *where.parents):
        if not above.is_relative_to(base):
            return None
        inside = above if above == base or above.name == MODULES else above / MODULES
        if (inside / name).is_dir():
            return inside / name
    return None


def requirements_of(package: Path) -> Iterator[str]:
    """Yield the names of a package's requirements."""
    with suppress(OSError, ValueError):
        said = json.loads((package / "package.json").read_bytes())
        for key in REQUIREMENT_KEYS:
            rows = said.get(key) if isinstance(said, dict) else None
            yield from rows if isinstance(rows, dict) else ()


def copy_symlink(found: Path, base: Path, target: Path) -> None:
    """Create the same symlink to a package."""
    place = target / MODULES / found.relative_to(base)
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.is_symlink():
        there = target / MODULES / found.resolve().relative_to(base)
        place.symlink_to(os.path.relpath(there, place.parent))


def copy_package(package: Path, place: Path) -> None:
    """Copy one package's files; its `node_modules` are separate packages."""
    for folder, folders, files in os.walk(package):
        if Path(folder) == package and MODULES in folders:
            folders.remove(MODULES)
        there = place / Path(folder).relative_to(package)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            copy_file(Path(folder) / name, there / name, package)


def copy_file(file: Path, place: Path, package: Path) -> None:
    """Copy or hard-link one file of the package; other files are ignored."""
    if not file.is_file() or not file.resolve().is_relative_to(package):
        return
    try:
        os.link(file.resolve(), place)
    except OSError:
        shutil.copyfile(file, place)
