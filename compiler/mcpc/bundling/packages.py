"""The packages that lie beside a project, put where it is bundled: those that are needed, and what they need in turn.

They keep their places below `node_modules`, so that what is made of them names the same paths wherever it is built.  A
symlink is followed as far as it stays below that folder, as package managers make them; one that leaves it is refused.
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

NEEDS = ("dependencies", "peerDependencies", "optionalDependencies")


class OutsideError(Exception):
    """A package lies outside the folder of packages."""


def name_of(specifier: str) -> str:
    """Return the package that an import names."""
    parts = specifier.split("/")
    return "/".join(parts[: 2 if specifier.startswith("@") else 1])


def has_all(root: Path, wanted: Iterable[str]) -> bool:
    """Tell whether the packages lie beside a project."""
    return all((root / MODULES / name / "package.json").is_file() for name in wanted)


def put(root: Path, wanted: Iterable[str], target: Path) -> None:
    """Put packages of `root`, and all that they need, at the same places below `target`; raise OutsideError."""
    base = (root / MODULES).resolve()
    todo = [(base, name) for name in wanted]
    seen: set[Path] = set()
    while todo:
        where, name = todo.pop()
        found = located(base, where, name)
        if found is None:
            continue  # whoever imports it is told at that import
        real = found.resolve()
        if not real.is_relative_to(base):
            raise OutsideError(f"`{name}` leads outside of `{MODULES}`")
        if found != real:
            link(found, base, target)
        if real not in seen:
            seen.add(real)
            copy(real, target / MODULES / real.relative_to(base))
            todo += [(real, need) for need in needs(real)]


def located(base: Path, where: Path, name: str) -> Path | None:
    """Return the package that code at `where` gets under a name, as Node looks for it."""
    for above in (where, *where.parents):
        if not above.is_relative_to(base):
            return None
        inside = above if above == base or above.name == MODULES else above / MODULES
        if (inside / name).is_dir():
            return inside / name
    return None


def needs(package: Path) -> Iterator[str]:
    """Yield the names of what a package needs."""
    with suppress(OSError, ValueError):
        said = json.loads((package / "package.json").read_bytes())
        for key in NEEDS:
            rows = said.get(key) if isinstance(said, dict) else None
            yield from rows if isinstance(rows, dict) else ()


def link(found: Path, base: Path, target: Path) -> None:
    """Make the same symlink: where a package is found that lies elsewhere."""
    place = target / MODULES / found.relative_to(base)
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.is_symlink():
        there = target / MODULES / found.resolve().relative_to(base)
        place.symlink_to(os.path.relpath(there, place.parent))


def copy(package: Path, place: Path) -> None:
    """Put one package's own files at a place; what lies in its `node_modules` are packages of their own."""
    for folder, folders, files in os.walk(package):
        if Path(folder) == package and MODULES in folders:
            folders.remove(MODULES)
        there = place / Path(folder).relative_to(package)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            put_file(Path(folder) / name, there / name, package)


def put_file(file: Path, place: Path, package: Path) -> None:
    """Put one file at a place, without a copy of its content where the system can; nothing but files of the package."""
    if not file.is_file() or not file.resolve().is_relative_to(package):
        return
    try:
        os.link(file.resolve(), place)
    except OSError:
        shutil.copyfile(file, place)
