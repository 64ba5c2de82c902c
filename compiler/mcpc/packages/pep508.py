"""Requirements in PEP 508 form: their parser, and the packages that they lead to by the metadata of installed ones.

A requirement that cannot be bundled is refused with a reason.
"""

from __future__ import annotations

import re
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from email.parser import HeaderParser
from functools import cached_property, lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from mcpc.diagnostics import Diagnostic, diagnose
from mcpc.model.ir.layer import RequestedPackage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from email.message import Message
    from importlib.metadata import PackagePath

    from mcpc.diagnostics import Span


class HasRequirements(Protocol):
    """A package as its metadata describe it: an installed one, or a wheel."""

    @property
    def version(self) -> str:
        """Its version."""

    @property
    def requires(self) -> Sequence[str] | None:
        """Its requirements as they are written."""


Found = TypeVar("Found", bound=HasRequirements)


# Read before the parser, whose message would be about the syntax of requirements.
NOT_A_NAME = re.compile(r"\S+://|git@|file:|\.{0,2}/|\.{1,2}$|\S+\.(?:whl|zip|tar\.\w+)$", re.IGNORECASE)
"""The beginning of an address, a path or a file that pip would accept in place of a requirement."""
FROM_REGISTRY = "name a package and its version: other sources may change before the next build"


def parse_requirement(text: str, span: Span, hashes: tuple[str, ...] = ()) -> RequestedPackage | Diagnostic:
    """Return the requirement in `text`."""
    if NOT_A_NAME.match(text):
        return not_from_registry(text, span)
    try:
        parsed = Requirement(text)
    except InvalidRequirement as problem:
        reason = str(problem).partition("\n")[0]
        expected = "a name and a version, as `pydantic==2.12.5`"
        return diagnose("MCP401", span, f"`{text}` is not a requirement: {reason}", expected)
    if parsed.url:
        return not_from_registry(text, span)
    return RequestedPackage(normalised_name(parsed.name), str(parsed), span, hashes)


def not_from_registry(text: str, span: Span) -> Diagnostic:
    """Return the refusal of a requirement from outside a registry."""
    return diagnose("MCP402", span, f"`{text}` is not a name in a package registry", "", FROM_REGISTRY)


class Installed(metadata.PathDistribution):
    """An installed package: what is asked of it again and again is read once, and not the description that it has."""

    @cached_property
    def metadata(self) -> Message:  # type: ignore[override]  # one without the method `json`
        """The fields of its metadata, without the description behind them, which is most of the text."""
        return HeaderParser().parsestr((self.read_text("METADATA") or "").partition("\n\n")[0])

    @cached_property
    def files(self) -> list[PackagePath] | None:
        """The files of its RECORD."""
        return super().files


def installed_package(name: str) -> metadata.Distribution | None:
    """Return the package that is installed with the compiler under this name."""
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    return Installed(package._path) if isinstance(package, metadata.PathDistribution) else package


def normalised_name(name: str) -> str:
    """Return a package's normalised name."""
    return canonicalize_name(name)


def pinned_version(text: str) -> str:
    """Return the only version that a requirement allows, or an empty string if it may allow several."""
    exact = [
        item
        for item in Requirement(text).specifier
        if item.operator in ("==", "===") and not item.version.endswith(".*")
    ]
    return exact[0].version if exact else ""


STANDARD = frozenset({"argparse", "asyncio", "dataclasses", "enum34", "logging", "pathlib", "typing", "uuid"})
"""Packages with nothing but modules of the standard library, of a Python long ago: it is searched first."""


@dataclass(slots=True)
class Closure(Generic[Found]):
    """The packages found, by normalised name, and missing ones: which package needs which requirement.

    `needs`: the packages that each one found needs, by normalised name; the project's have the empty name.
    `specifiers`: what is asked of each package, by all that need it.
    """

    found: dict[str, Found] = field(default_factory=dict)
    needs: dict[str, set[str]] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)
    specifiers: dict[str, SpecifierSet] = field(default_factory=dict)


def find_closure(
    wanted: Iterable[str], find: Callable[[str], Found | None], markers: Mapping[str, str]
) -> Closure[Found]:
    """Return all packages that the requirements `wanted` lead to, on a machine with these marker values.

    `find`: finds what there is under a normalised name.
    """
    result: Closure[Found] = Closure()
    waiting = [("", Requirement(text)) for text in wanted]
    seen: set[tuple[str, str]] = set()
    while waiting:
        by, one = waiting.pop()
        name = normalised_name(one.name)
        if name in STANDARD or not applies(one, "", markers):
            continue
        result.needs.setdefault(by, set()).add(name)
        if (name, str(one)) in seen:
            continue
        seen.add((name, str(one)))
        result.specifiers[name] = result.specifiers.get(name, SpecifierSet()) & one.specifier
        distribution = find(name)
        # A pre-release that is there was chosen by whoever installed it.
        if distribution is None or not one.specifier.contains(distribution.version, prereleases=True):
            result.missing.append((by, str(one)))
            continue
        result.found[name] = distribution
        waiting += [(name, needed) for needed in _requirements_of(distribution, one.extras, markers)]
    return result


def _requirements_of(
    distribution: HasRequirements, extras: Iterable[str], markers: Mapping[str, str]
) -> list[Requirement]:
    """Return the requirements of a package with `extras`, without their markers."""
    found: list[Requirement] = []
    for one in valid_requirements(distribution):
        if any(applies(one, extra, markers) for extra in ("", *extras)):
            one.marker = None
            found.append(one)
    return found


def valid_requirements(distribution: HasRequirements) -> Iterator[Requirement]:
    """Yield the requirements in a package's metadata; invalid ones are ignored, as by an installer."""
    for text in distribution.requires or ():
        with suppress(InvalidRequirement):
            # A copy, because callers remove the marker, and the parsed one is shared.
            yield copy(parsed_requirement(text))


parsed_requirement = lru_cache(1 << 12)(Requirement)
"""Reads a requirement that is read again for every package that leads to it, and every target."""


def applies(requirement: Requirement, extra: str, markers: Mapping[str, str]) -> bool:
    """Tell whether a requirement applies on a machine with these marker values, to a package with this extra."""
    return requirement.marker is None or requirement.marker.evaluate({**markers, "extra": extra})
