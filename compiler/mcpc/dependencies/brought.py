"""What each requirement brings: the packages that are there for it, and what each package is to the others.

The packages of several requirements are those of each together, so that what only one of them brings is a difference of
sets.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from mcpc.dependencies.closure import closure
from mcpc.dependencies.platforms import Target, markers
from mcpc.dependencies.spelling import normalised
from mcpc.dependencies.staging import importable
from mcpc.ir import PackageContents, PackageRequirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.dependencies.model import Requirement as Wanted
    from mcpc.dependencies.model import Staged
    from mcpc.dependencies.parcels import Parts

    Packages = Mapping[str, metadata.Distribution]

COMMANDS = frozenset({"console_scripts", "gui_scripts"})
"""The groups of entry points that no other package looks into."""
BYTECODE = 1.1
"""As many bytes of bytecode lie beside one byte of source, over many packages."""
ENTRY = 140
"""What an archive takes for a file beside its bytes and three times its name: headers, and a line of the manifest."""


def brought(wanted: Iterable[Wanted], staged: Sequence[Staged]) -> tuple[PackageRequirement, ...]:
    """Return what each requirement brings on any of the platforms; those of one name are one.

    O(requirements x packages).
    """
    places = [(one, _packages(one)) for one in staged]
    found: dict[str, PackageRequirement] = {}
    for one in wanted:
        names = frozenset(name for stage, packages in places for name in _closure(one.text, stage, packages))
        before = found.get(one.name, PackageRequirement(one.name, one.span, frozenset()))
        found[one.name] = PackageRequirement(one.name, before.span, before.brings | names)
    return tuple(found.values())


def _packages(stage: Staged) -> Packages:
    there = metadata.distributions(path=[str(stage.root)])
    return {normalised(one.metadata["Name"]): one for one in there}


def _closure(text: str, stage: Staged, packages: Packages) -> Iterable[str]:
    return closure((text,), packages.get, markers(Target(stage.platform, stage.python))).found


def contents(parts: Iterable[Parts], staged: Sequence[Staged]) -> dict[str, PackageContents]:
    """Return what is known of each package, by its name."""
    modules: dict[str, frozenset[str]] = {}
    for stage in staged:
        for one in stage.distributions:
            modules[one.name] = modules.get(one.name, frozenset()) | importable((one,))
    notes = {name: one for stage in staged for name, one in _packages(stage).items()}
    return {
        name: PackageContents(modules[name], size(part), _used(notes[name]), _extended(notes[name]))
        for part in parts
        for name in (part.distribution.name,)
    }


def size(part: Parts) -> int:
    """Return about how many bytes of the artifact a package takes: its files, and bytecode of what is not extracted."""
    files = [*part.plain.items(), *(row for variant in part.variants for row in variant.files.items())]
    stored = sum(len(data) + ENTRY + 3 * len(path) for path, data in files)
    return stored + int(BYTECODE * sum(len(data) for path, data in part.plain.items() if path.endswith(".py")))


def _used(package: metadata.Distribution) -> frozenset[str]:
    """Return the packages that one names in its metadata, whatever extra they are for."""
    found: set[str] = set()
    for text in package.requires or ():
        try:
            found.add(normalised(Requirement(text).name))
        except InvalidRequirement:
            continue  # an installer passes over it, too
    return frozenset(found)


def _extended(package: metadata.Distribution) -> frozenset[str]:
    return frozenset(one.group for one in package.entry_points) - COMMANDS
