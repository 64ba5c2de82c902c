"""What packages contain and bring: the packages of each requirement, and of each package its modules and its size.

The packages of several requirements are the union of those of each, so that the packages of only one requirement are a
difference of sets.
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING

from mcpc.model.ir import PackageContents, PackageRequirement
from mcpc.packages.pep508 import find_closure, normalised_name, valid_requirements
from mcpc.packages.platforms import Target, marker_values
from mcpc.packages.sizes import approximate_size
from mcpc.packages.staging import importable_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.model import StagedPackages
    from mcpc.packages.native_packages import SplitPackage

    Packages = Mapping[str, metadata.Distribution]

IMPORTED = re.compile(rb"\b(?:import|from|import_module\(|__import__\()[ \t]*[\"']?([A-Za-z_]\w*)")
COMMANDS = frozenset({"console_scripts", "gui_scripts"})
"""Groups of entry points that other packages do not read."""


def packages_of_requirements(
    wanted: Iterable[RequestedPackage], staged: Sequence[StagedPackages]
) -> tuple[PackageRequirement, ...]:
    """Return the packages that each requirement adds on any platform; requirements of one name are merged.

    O(requirements x packages).
    """
    places = [(item, _packages(item)) for item in staged]
    requirements: dict[str, PackageRequirement] = {}
    for entry in wanted:
        names = frozenset(name for stage, packages in places for name in _closure(entry.text, stage, packages))
        before = requirements.get(entry.name, PackageRequirement(entry.name, entry.span, frozenset()))
        requirements[entry.name] = PackageRequirement(entry.name, before.span, before.brings | names)
    return tuple(requirements.values())


def _packages(stage: StagedPackages) -> Packages:
    there = metadata.distributions(path=[str(stage.root)])
    return {normalised_name(item.metadata["Name"]): item for item in there}


def _closure(text: str, stage: StagedPackages, packages: Packages) -> Iterable[str]:
    return find_closure((text,), packages.get, marker_values(Target(stage.platform, stage.python))).found


def package_contents(parts: Sequence[SplitPackage], staged: Sequence[StagedPackages]) -> dict[str, PackageContents]:
    """Return the properties of each package, by its name."""
    modules: dict[str, frozenset[str]] = {}
    for stage in staged:
        for distribution in stage.distributions:
            modules[distribution.name] = modules.get(distribution.name, frozenset()) | importable_names((distribution,))
    notes = {name: package for stage in staged for name, package in _packages(stage).items()}
    known = frozenset(name for names in modules.values() for name in names)
    return {
        name: PackageContents(
            modules[name],
            approximate_size(part),
            _named_packages(notes[name]),
            _entry_point_groups(notes[name]),
            _imported_modules(part) & known,
        )
        for part in parts
        for name in (part.distribution.name,)
    }


def _named_packages(package: metadata.Distribution) -> frozenset[str]:
    """Return the packages that a package's metadata names, for any extra."""
    return frozenset(normalised_name(requirement.name) for requirement in valid_requirements(package))


def _entry_point_groups(package: metadata.Distribution) -> frozenset[str]:
    return frozenset(item.group for item in package.entry_points) - COMMANDS


def _imported_modules(part: SplitPackage) -> frozenset[str]:
    """Return the top-level modules that the sources of a package seem to import."""
    texts = (data for path, data in part.files().items() if path.endswith(".py"))
    return frozenset(name.decode() for data in texts for name in set(IMPORTED.findall(data)))
