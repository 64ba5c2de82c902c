"""Files of a server that nothing uses, and those that are left out or large.

Dynamic imports cannot be seen, so it is a note; a requirement also counts as used if a used package names it in its
metadata, mentions an import of it, or is extended by it.

Everything in the project's folder is packed that no rule leaves out, so that code finds what is beside it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.languages import loads
from mcpc.packages.module_packages import needs_models
from mcpc.reading.selection import EXCLUDE, EXPECTED, PYPROJECT, REASONS, pyproject_settings
from mcpc.reading.source import is_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Layer, PackageRequirement, Server
    from mcpc.reading import Source, SourceTree

PYDANTIC = "pydantic"
LOADED_BY_PYTHON = frozenset({"tzdata"})
"""Modules that only the standard library imports."""
MAX_FILES = 4
"""Maximum number of requirements that are named; the others are counted."""
MEGABYTE_IN_WORDS = 100_000
"""From this size on, sizes are printed in MB."""


@dataclass(frozen=True, slots=True)
class _Use:
    """Facts for the analysis: what the project imports, and which requirements are certainly used."""

    layer: Layer
    imported: frozenset[str]
    certain: frozenset[str]

    def modules(self, packages: Iterable[str]) -> frozenset[str]:
        """Return the top-level names of some packages."""
        contents = self.layer.contents
        return frozenset(name for package in packages if package in contents for name in contents[package].modules)


@dataclass(frozen=True, slots=True)
class _Saving:
    """A requirement, others that only it needs, and the approximate bytes saved without them."""

    requirement: PackageRequirement
    others: tuple[str, ...]
    size: int


def check_unused(server: Server) -> Diagnostics:
    """Report the requirements that no code imports, each with the approximate bytes that only it adds.

    O(requirements^2).
    """
    layer = server.layer
    if layer is None or not layer.complete or all(item.span is None for item in layer.asked):
        return ()
    loaded = [loads(file.source) for file in server.files if _is_python(file.source.path, file.source.data)]
    # Where it is not known what one file imports, nothing is certainly unused.
    if any(names is None for names in loaded):
        return ()
    named = {item.name for item in layer.asked if item.span is None or item.name in LOADED_BY_PYTHON}
    certain = frozenset((*named, PYDANTIC) if needs_models(server) else named)
    use = _Use(layer, frozenset(name for names in loaded for name in names or ()), certain)
    return tuple(map(_note, _savings(layer, _needless(use))))


def _is_python(path: str, data: bytes) -> bool:
    return path.endswith(".py") or (data.startswith(b"#!") and b"python" in data.partition(b"\n")[0])


def _needless(use: _Use) -> tuple[PackageRequirement, ...]:
    """Return the requirements that neither the project nor a used package uses."""
    idle = {
        item.name: item
        for item in use.layer.asked
        if item.name not in use.certain
        and item.name in use.layer.contents  # a marker may leave it out
        and not use.modules((item.name,)) & use.imported
    }
    kept = _together(item for item in use.layer.asked if item.name not in idle)
    while True:
        # In rounds, because what is kept may use others.
        needless = [item for item in idle.values() if item.name not in kept and _is_reached(use, item, kept)]
        if not needless:
            return tuple(item for item in idle.values() if item.name not in kept)
        kept |= _together(needless) | {item.name for item in needless}


def _together(requirements: Iterable[PackageRequirement]) -> frozenset[str]:
    """Return all packages that some requirements bring."""
    return frozenset(name for requirement in requirements for name in requirement.brings)


def _is_reached(use: _Use, item: PackageRequirement, kept: frozenset[str]) -> bool:
    """Tell whether a used package or the project needs something that a requirement brings."""
    contents, own = use.layer.contents, use.modules((item.name,))
    if use.modules(item.brings - kept) & (use.imported - use.modules(kept)):
        return True  # the project imports a package that only this requirement brings
    if any(item.name in contents[name].uses or contents[name].imports & own for name in kept if name in contents):
        return True
    groups = contents[item.name].extends if item.name in contents else frozenset()
    # By convention a group is named after the module that reads it: `flask.commands`.
    return any(group.startswith(module) for group in groups for module in use.modules(kept))


def _roots(needless: Sequence[PackageRequirement]) -> tuple[PackageRequirement, ...]:
    """Return the requirements that no other one needs; of a cycle, the first one."""
    roots: list[PackageRequirement] = []
    for item in sorted(needless, key=lambda item: (-len(item.brings), item.name)):
        if all(item.name not in root.brings for root in roots):
            roots.append(item)
    return tuple(roots)


def _savings(layer: Layer, needless: Sequence[PackageRequirement]) -> Iterator[_Saving]:
    """Yield the savings, the largest first, for each requirement that brings packages of no other one."""
    names = frozenset(item.name for item in needless)
    for item in _roots(needless):
        own = names & item.brings
        stays = _together(other for other in layer.asked if other.name not in own)
        others = own - stays - {item.name}
        left = _together(other for other in layer.asked if other.name != item.name and other.name not in others)
        if item.name not in left:
            size = sum(layer.contents[name].size for name in item.brings - left)
            yield _Saving(item, tuple(sorted(others)), size)


def _note(saving: _Saving) -> Diagnostic:
    item, others = saving.requirement, saving.others
    without = f"without it and {_listed(others)}, which only it needs," if others else "without it"
    message = f"nothing imports `{item.name}`; {without} the file is about {_in_words(saving.size)} smaller"
    where = f" from `{item.span.path}`" if item.span is not None else ""
    hint = f"remove it{where}, unless it is imported by a computed name, or loaded as a plug-in"
    return replace(diagnose("MCP412", item.span, message, "", hint), size=saving.size)


def _listed(names: Sequence[str]) -> str:
    """Return names for a sentence: all if few, else the first ones and the number of others."""
    shown = [f"`{name}`" for name in names]
    if len(names) > MAX_FILES:
        shown = [*shown[: MAX_FILES - 1], f"{len(names) - MAX_FILES + 1} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _in_words(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= MEGABYTE_IN_WORDS else f"{max(size // 1000, 1)} kB"


MAX_LEFT_OUT, MAX_FOLDERS = 6, 3
"""How many files and folders are named; the others are counted."""
LARGE_BYTES = 1_000_000


def packed_files(server: Server, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the notes on the files of a server's project."""
    if not server.files:
        return
    if any(reason not in EXPECTED for _, reason in tree.left_out):
        yield _left_out(tree.left_out)
    sources = [file.source for file in server.files]
    used = frozenset((*(item.handler.file for item in server.definitions), *server.shell, *server.imported))
    large = sorted(_large_folders(sources, used), key=lambda row: (-row[1], row[0]))[:MAX_FOLDERS]
    if large:
        yield _large(large, tree)


def _left_out(rows: Sequence[tuple[str, str]]) -> Diagnostic:
    """Return the note on what is left out: the reasons in their order, and for each its files."""
    ordered = sorted(rows, key=lambda row: (REASONS.index(row[1]), row[0]))
    named = ", ".join(f"`{path}` ({reason})" for path, reason in islice(ordered, MAX_LEFT_OUT))
    others = f" and {len(rows) - MAX_LEFT_OUT} more" if len(rows) > MAX_LEFT_OUT else ""
    hint = f"patterns of `include` in `[tool.mcpc]` of `{PYPROJECT}` add files, those of `{EXCLUDE}` leave out others"
    return diagnose("MCP266", None, f"not in the built file: {named}{others}", "", hint)


def _large(folders: Sequence[tuple[str, int]], tree: SourceTree) -> Diagnostic:
    """Return the note on large folders, with the line that leaves them out and keeps what is excluded already."""
    named = ", ".join(f"`{folder}/` ({size / 1_000_000:.1f} MB)" for folder, size in folders)
    source = tree.get(PYPROJECT)
    known = pyproject_settings(source.text if source is not None else "").get(EXCLUDE, [])
    line = json.dumps([*(known if isinstance(known, list) else ()), *(f"{folder}/" for folder, _ in folders)])
    hint = f"if it is not needed, write `{EXCLUDE} = {line}` in `[tool.mcpc]` of `{PYPROJECT}`"
    return diagnose("MCP267", None, f"in the built file, though no code names it: {named}", "", hint)


def _large_folders(sources: Sequence[Source], used: frozenset[str], above: str = "") -> Iterator[tuple[str, int]]:
    """Yield the large folders that no code names, with their bytes; of one with files that are used, those in it."""
    below = [source for source in sources if source.path.startswith(above) and "/" in source.path[len(above) :]]
    for folder in sorted({above + source.path[len(above) :].partition("/")[0] for source in below}):
        inside = [source for source in below if source.path.startswith(f"{folder}/")]
        size = sum(len(source.data) for source in inside)
        if any(source.path in used for source in inside):
            yield from _large_folders(sources, used, f"{folder}/")
        elif size >= LARGE_BYTES and not is_named(folder, sources):
            yield folder, size
