"""Transitive requirements of packages, by the metadata of installed packages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from mcpc.dependencies.pep508 import normalised_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from importlib.metadata import Distribution

    Find = Callable[[str], Distribution | None]
    """Finds what is installed under a normalised name."""


@dataclass(slots=True)
class Closure:
    """The packages found, by normalised name, and missing ones: which package needs which requirement."""

    found: dict[str, Distribution] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)


def find_closure(wanted: Iterable[str], find: Find, markers: Mapping[str, str]) -> Closure:
    """Return all packages that the requirements `wanted` lead to, on a machine with these marker values."""
    result = Closure()
    waiting = [("", Requirement(text)) for text in wanted]
    seen: set[tuple[str, str]] = set()
    while waiting:
        by, one = waiting.pop()
        name = normalised_name(one.name)
        if not _applies(one, "", markers) or (name, str(one)) in seen:
            continue
        seen.add((name, str(one)))
        distribution = find(name)
        if distribution is None or not one.specifier.contains(distribution.version, prereleases=True):
            result.missing.append((by, str(one)))
            continue
        result.found[name] = distribution
        waiting += [(name, needed) for needed in _requirements_of(distribution, one.extras, markers)]
    return result


def _requirements_of(
    distribution: Distribution, extras: Iterable[str], markers: Mapping[str, str]
) -> list[Requirement]:
    """Return the requirements of a package with `extras`, without their markers."""
    found: list[Requirement] = []
    for text in distribution.requires or ():
        try:
            one = Requirement(text)
        except InvalidRequirement:
            continue  # an installer passes over it, too
        if any(_applies(one, extra, markers) for extra in ("", *extras)):
            one.marker = None
            found.append(one)
    return found


def _applies(requirement: Requirement, extra: str, markers: Mapping[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({**markers, "extra": extra})
