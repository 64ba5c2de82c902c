"""Find requirements that nothing imports, and say what they cost.

An import that only running would show cannot be seen, so it is a note; and a requirement counts as used as well if a
package that is used names it in its metadata, or mentions an import of it, or is extended by it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.dependencies.needs import needs_models
from mcpc.diagnostics import diagnose
from mcpc.languages import loads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Layer, PackageRequirement, Server

PYDANTIC = "pydantic"
LOADED_BY_PYTHON = frozenset({"tzdata"})
"""What the standard library looks for, and nothing else imports."""
PARCEL = re.compile(r"\.extracted/[^/]+/")
IMPORTED = re.compile(rb"\b(?:import|from|import_module\(|__import__\()[ \t]*[\"']?([A-Za-z_]\w*)")
SHOWN = 4
"""Of more requirements than that only some are named, and the rest counted."""
MEGABYTE_IN_WORDS = 100_000
"""From here on a size is told in MB."""


@dataclass(frozen=True, slots=True)
class _Use:
    """What is known when one asks which requirements are used: what the project imports, and what is certainly used."""

    layer: Layer
    imported: frozenset[str]
    certain: frozenset[str]

    def modules(self, packages: Iterable[str]) -> frozenset[str]:
        """Return the top-level names that packages have together."""
        contents = self.layer.contents
        return frozenset(name for one in packages if one in contents for name in contents[one].modules)


@dataclass(frozen=True, slots=True)
class _Saving:
    """A requirement, the others that only it needs, and about how many bytes smaller the file is without them."""

    requirement: PackageRequirement
    others: tuple[str, ...]
    size: int


def unused(server: Server) -> Diagnostics:
    """Report the requirements that nothing imports, each with about the bytes that it alone brings.

    O(requirements^2 + bytes of the carried packages), the latter only if there are some.
    """
    layer = server.layer
    if layer is None or not layer.complete or all(one.span is None for one in layer.asked):
        return ()
    loaded = [loads(file.source) for file in server.files if _is_python(file.source.path, file.source.data)]
    if any(names is None for names in loaded):
        return ()
    named = {one.name for one in layer.asked if one.span is None or one.name in LOADED_BY_PYTHON}
    certain = frozenset((*named, PYDANTIC) if needs_models(server) else named)
    use = _Use(layer, frozenset(name for names in loaded for name in names or ()), certain)
    return tuple(map(_note, _savings(layer, _needless(use))))


def _is_python(path: str, data: bytes) -> bool:
    return path.endswith(".py") or (data.startswith(b"#!") and b"python" in data.partition(b"\n")[0])


def _needless(use: _Use) -> tuple[PackageRequirement, ...]:
    """Return the requirements that are not used, by the project or by a package that is used."""
    idle = {
        one.name: one
        for one in use.layer.asked
        if one.name not in use.certain and not use.modules((one.name,)) & use.imported
    }
    kept = _together(one for one in use.layer.asked if one.name not in idle)
    mentions = _mentions(use, use.modules(idle)) if idle.keys() - kept else {}
    while True:
        found = [one for one in idle.values() if one.name not in kept and _is_reached(use, one, kept, mentions)]
        if not found:
            return tuple(one for one in idle.values() if one.name not in kept and one.name in use.layer.contents)
        kept |= _together(found)


def _together(requirements: Iterable[PackageRequirement]) -> frozenset[str]:
    """Return all that some requirements bring."""
    return frozenset(name for one in requirements for name in one.brings)


def _is_reached(use: _Use, one: PackageRequirement, kept: frozenset[str], mentions: dict[str, set[str]]) -> bool:
    """Tell whether something that is used needs what a requirement brings."""
    contents, own = use.layer.contents, use.modules((one.name,))
    if use.modules(one.brings - kept) & (use.imported - use.modules(kept)):
        return True  # the project imports what only this one brings
    if any(one.name in contents[name].uses or mentions.get(name, set()) & own for name in kept if name in contents):
        return True
    groups = contents[one.name].extends if one.name in contents else frozenset()
    return any(group.startswith(module) for group in groups for module in use.modules(kept))


def _mentions(use: _Use, names: Collection[str]) -> dict[str, set[str]]:
    """Return which modules of some `names` the source of each package seems to import."""
    owners: dict[str, list[str]] = {}
    for package, contents in use.layer.contents.items():
        for module in contents.modules:
            owners.setdefault(module, []).append(package)
    found: dict[str, set[str]] = {}
    for path, data in use.layer.files.items():
        module = PARCEL.sub("", path).partition("/")[0].removesuffix(".py")
        if path.endswith(".py") and module in owners:
            imported = {name.decode() for name in IMPORTED.findall(data)} & set(names)
            for package in owners[module]:
                found.setdefault(package, set()).update(imported)
    return found


def _roots(needless: Sequence[PackageRequirement]) -> tuple[PackageRequirement, ...]:
    """Return the requirements that no other one of them needs; of a circle, the one that comes first."""
    found: list[PackageRequirement] = []
    for one in sorted(needless, key=lambda one: (-len(one.brings), one.name)):
        if all(one.name not in root.brings for root in found):
            found.append(one)
    return tuple(found)


def _savings(layer: Layer, needless: Sequence[PackageRequirement]) -> Iterator[_Saving]:
    """Yield what would go away, the largest first, for each requirement that brings what no other one does."""
    names = frozenset(one.name for one in needless)
    for one in _roots(needless):
        own = names & one.brings
        stays = _together(other for other in layer.asked if other.name not in own)
        others = own - stays - {one.name}
        left = _together(other for other in layer.asked if other.name != one.name and other.name not in others)
        if one.name not in left:
            size = sum(layer.contents[name].size for name in one.brings - left)
            yield _Saving(one, tuple(sorted(others)), size)


def _note(saving: _Saving) -> Diagnostic:
    one, others = saving.requirement, saving.others
    without = f"without it, and {_listed(others)} that only it needs," if others else "without it"
    message = f"nothing imports `{one.name}`; {without} the file is about {_in_words(saving.size)} smaller"
    where = f" from `{one.span.path}`" if one.span is not None else ""
    hint = f"remove it{where}, unless it is imported by a computed name, or loaded as a plug-in"
    return replace(diagnose("MCP412", one.span, message, "", hint), size=saving.size)


def _listed(names: Sequence[str]) -> str:
    """Return names for a sentence: all of a few, else the first and how many more there are."""
    shown = [f"`{name}`" for name in names]
    if len(names) > SHOWN:
        shown = [*shown[: SHOWN - 1], f"{len(names) - SHOWN + 1} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _in_words(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= MEGABYTE_IN_WORDS else f"{max(size // 1000, 1)} kB"
