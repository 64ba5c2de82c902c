"""Targets of a build: the platforms and Pythons that bundled machine code is for, and what a built file runs on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from packaging import tags

from mcpc.diagnostics import Diagnostic
from mcpc.model.ir.layer import common_targets
from mcpc.options import ANY_SYSTEM, COMMON, COMMON_PLATFORMS
from mcpc.packages.platforms import HERE, PYTHON, SYSTEM_NAMES, SYSTEMS, Target, machine_of, parse_target, system_of
from mcpc.packages.required_python import MINORS, required_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Layer
    from mcpc.options import Options
    from mcpc.reading import SourceTree

MACHINE_NAMES = {"x86_64": "x86-64", "AMD64": "x86-64", "aarch64": "arm64", "ARM64": "arm64"}
MUSL = "musllinux"


@dataclass(frozen=True, slots=True)
class PlatformTargets:
    """A platform with its first Python, whose packages decide the versions, and other ones.

    `is_required`: a build without the first one fails.
    """

    first: Target
    others: tuple[Target, ...] = ()
    is_required: bool = True


def build_targets(options: Options, minors: Sequence[str] = MINORS) -> tuple[tuple[PlatformTargets, ...], Diagnostics]:
    """Return the targets that the options name; `minors`: the Pythons that the project allows."""
    common = set(COMMON_PLATFORMS).difference(options.platforms) if COMMON in options.platforms else set()
    groups: list[PlatformTargets] = []
    problems: list[Diagnostic] = []
    for python in options.minors or ("",):
        for platform in options.platform_tags or ("",):
            target = parse_target(platform, "" if PYTHON.fullmatch(platform) else python)
            if isinstance(target, Diagnostic):
                problems.append(target)
            else:
                is_open = options.every_python and not options.python and not PYTHON.fullmatch(platform)
                pythons = (minor for minor in minors if is_open and minor != HERE)
                others = tuple(Target(target.platform, minor) for minor in pythons)
                groups.append(PlatformTargets(target, others, is_required=platform not in common))
    return tuple(dict.fromkeys(groups)), tuple(problems)


def allowed_pythons(tree: SourceTree) -> tuple[str, ...]:
    """Return the Pythons that a project allows: all, if it does not say."""
    required = required_python(tree)
    return required.minors if required is not None and required.minors else MINORS


def runs_on(layers: Sequence[Layer], pythons: Sequence[str]) -> str:
    """Return what a file with these packages runs on, in words; `pythons`: those that the project allows."""
    natives = sorted({item.name for layer in layers for item in layer.packages if any(map(is_native, item.tags))})
    if not natives:
        return f"{pythons_in_words(pythons)}, {ANY_SYSTEM}"
    platforms: dict[str, list[str]] = {}
    for target in common_targets(layers):
        platforms.setdefault(target.platform, []).append(target.python)
    systems: dict[str, list[str]] = {}
    for platform, minors in platforms.items():
        names = systems.setdefault(pythons_in_words(minors), [])
        names += [name] if (name := system_name(platform)) not in names else []
    words = "; ".join(f"{', '.join(names)}, {minors}" for minors, names in systems.items())
    return f"{words} ({', '.join(natives)})"


def is_native(tag: str) -> bool:
    """Tell whether a wheel with this tag has machine code."""
    return not tag.endswith("-any")


def pythons_in_words(minors: Iterable[str]) -> str:
    """Return versions of Python in words: `Python 3.11 to 3.13`."""
    numbers = sorted({int(minor.partition(".")[2]) for minor in minors})
    # Two versions are listed, even if they follow each other.
    if len(numbers) > 2 and all(after == before + 1 for before, after in pairwise(numbers)):
        return f"Python 3.{numbers[0]} to 3.{numbers[-1]}"
    return f"Python {' and '.join(f'3.{number}' for number in numbers)}"


def system_name(platform: str) -> str:
    """Return the name of a platform in words: `Linux x86-64`; an empty tag is this machine."""
    tag = platform or next(tags.platform_tags())
    system = system_of(tag) or sys.platform
    machine = machine_of(tag, system) if system in SYSTEMS and SYSTEMS[system].fullmatch(tag) else tag
    libc = " (musl)" if tag.startswith(MUSL) else ""
    return f"{SYSTEM_NAMES.get(system, system)} {MACHINE_NAMES.get(machine, machine)}{libc}"
