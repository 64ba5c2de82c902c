"""Platforms that a server can run on, by the tags of their wheels (PEP 600, PEP 656, and Python's own).

A requested platform may also name a Python: `manylinux2014_x86_64-cp312`.
"""

from __future__ import annotations

import os
import platform as machine
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging import tags
from packaging.markers import default_environment

from mcpc.diagnostics import Diagnostic, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.markers import Environment
    from packaging.tags import Tag

LEGACY = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
"""Names of versions of the GNU C library before they were numbers."""
OLDEST = {"manylinux": 5, "musllinux": 0}
LINUX = re.compile(
    r"(?:(?P<libc>manylinux|musllinux)_(?P<major>\d+)_(?P<minor>\d+)|(?P<legacy>manylinux(?:1|2010|2014))|linux)"
    r"_(?P<machine>x86_64|i686|aarch64|armv7l|ppc64le|s390x|riscv64|loongarch64)"
)
MACOS = re.compile(r"macosx_\d+_\d+_(?P<machine>x86_64|arm64|universal2)")
WINDOWS = re.compile(r"win(?:32|_(?P<machine>amd64|arm64))")
SYSTEMS = {"linux": LINUX, "darwin": MACOS, "win32": WINDOWS}
"""The tags of each system, by its name in Python."""
SYSTEM_NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
MARKERS = {
    "linux": {"os_name": "posix", "platform_system": "Linux"},
    "darwin": {"os_name": "posix", "platform_system": "Darwin"},
    "win32": {"os_name": "nt", "platform_system": "Windows"},
}
"""What requirement markers say about a system, beside its name."""
WINDOWS_MACHINES = {"amd64": "AMD64", "arm64": "ARM64", None: "x86"}
PYTHON = re.compile(r"(?P<platform>.*)-cp(?P<major>3)(?P<minor>\d+)")
GLIBC = (17, 28, *range(31, 41))
"""The versions 2.x of the GNU C library that uv chooses wheels for."""
MACHINES = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64", "universal2": "aarch64"}
WINDOWS_TARGETS = {"amd64": "x86_64", "arm64": "aarch64", None: "i686"}
# uv chooses wheels for musl 1.2.
OLDEST_MUSL = 2
EXPECTED = "a tag such as `manylinux2014_x86_64`, `musllinux_1_2_aarch64`, `macosx_11_0_arm64` or `win_amd64`"
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
SUPPORTED = (3, 11)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a server will run: a platform's tag, empty for this machine; and a Python, as `3.12`."""

    platform: str
    python: str

    @property
    def is_here(self) -> bool:
        """Tell whether it is this machine, with this Python."""
        return not self.platform and self.python == HERE

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.platform or 'this machine'} with Python {self.python}"


HERE_AND_NOW = Target("", HERE)
"""This machine, with this Python."""


def parse_target(platform: str, python: str = "") -> Target | Diagnostic:
    """Return the target that `platform` and `python` name."""
    named = PYTHON.fullmatch(platform)
    tag = named["platform"] if named else platform
    version = python or (f"{named['major']}.{named['minor']}" if named else HERE)
    if tag and not system_of(tag):
        return diagnose("MCP406", None, f"`{platform}` is not a platform tag of wheels", EXPECTED)
    if tag and not uv_platform(tag):
        return diagnose("MCP406", None, f"uv does not choose wheels for `{tag}`", EXPECTED)
    if not re.fullmatch(r"3\.\d+", version) or tuple(map(int, version.split("."))) < SUPPORTED:
        return diagnose("MCP406", None, f"a server does not run on Python {version}", "Python 3.11 or newer")
    return Target(tag, version)


def system_of(tag: str) -> str:
    """Return the system of a platform's tag as `sys.platform` names it; empty if it is not a tag of wheels."""
    named = PYTHON.fullmatch(tag)
    platform = named["platform"] if named else tag
    return next((system for system, pattern in SYSTEMS.items() if pattern.fullmatch(platform)), "")


def accepted_tags(platform: str) -> tuple[str, ...]:
    """Return the tags of wheels that a platform accepts: its own, and those of older C libraries."""
    found = LINUX.fullmatch(platform)
    if found is None or not (found["libc"] or found["legacy"]):
        return (platform,)
    libc = found["libc"] or "manylinux"
    major, minor = LEGACY[found["legacy"]] if found["legacy"] else (int(found["major"]), int(found["minor"]))
    tags: list[str] = []
    for number in range(minor, OLDEST[libc] - 1, -1):
        tags.append(f"{libc}_{major}_{number}_{found['machine']}")
        if libc == "manylinux":
            tags += [f"{old}_{found['machine']}" for old, version in LEGACY.items() if version == (major, number)]
    return tuple(tags)


def uv_platform(tag: str) -> str:
    """Return uv's name of a platform, with no newer C library than its own; empty for one that uv does not have."""
    linux, macos, windows = (SYSTEMS[system].fullmatch(tag) for system in SYSTEMS)
    if windows is not None:
        return f"{WINDOWS_TARGETS[windows['machine']]}-pc-windows-msvc"
    if macos is not None:
        return f"{MACHINES[macos['machine']]}-apple-darwin"
    if linux is None or linux["machine"] not in MACHINES:
        return ""
    machine, legacy = linux["machine"], LEGACY.get(linux["legacy"] or "")
    minor = legacy[1] if legacy else int(linux["minor"] or 0)
    if linux["libc"] == "musllinux":
        return f"{machine}-unknown-linux-musl" if minor >= OLDEST_MUSL else ""
    known = max((number for number in GLIBC if number <= minor), default=0)
    return f"{machine}-manylinux_2_{known}" if known else ""


def macos_version(tag: str) -> str:
    """Return the version of macOS in a platform's tag, as `11.0`; an empty text for another system."""
    found = re.match(r"macosx_(\d+)_(\d+)_", tag)
    return f"{found[1]}.{found[2]}" if found else ""


def marker_values(target: Target) -> dict[str, str]:
    """Return the values of requirement markers (PEP 508) on a target that differ from this machine."""
    system = system_of(target.platform)
    known = {"python_version": target.python, "implementation_name": "cpython", "os_name": os.name}
    # Of another Python the patch version is not known.
    if target.python != HERE:
        known["python_full_version"] = f"{target.python}.0"
    if not system:
        return {**known, "sys_platform": sys.platform, "platform_machine": machine.machine()}
    return {**known, **MARKERS[system], "sys_platform": system, "platform_machine": machine_of(target.platform, system)}


def machine_of(platform: str, system: str) -> str:
    """Return the machine of a platform's tag, as the system itself names it."""
    found = SYSTEMS[system].fullmatch(platform)
    named = found["machine"] if found else None
    if system == "win32":
        return WINDOWS_MACHINES[named]
    return "arm64" if named == "universal2" else str(named)


MACOS_TAG = re.compile(r"macosx_(?P<major>\d+)_(?P<minor>\d+)_(?P<machine>\w+)")


def wheel_tags(target: Target) -> list[Tag]:
    """Return the tags of wheels that a target accepts, best first."""
    if target.is_here:
        return list(tags.sys_tags())
    major, minor = map(int, target.python.split("."))
    platforms = list(_platforms(target.platform)) if target.platform else None
    return [
        *tags.cpython_tags((major, minor), platforms=platforms),
        *tags.compatible_tags((major, minor), f"cp{major}{minor}", platforms),
    ]


def _platforms(platform: str) -> Iterator[str]:
    """Yield the platforms of wheels that run on a platform: those of earlier versions, in pip's order."""
    found = MACOS_TAG.fullmatch(platform)
    if found is None:
        yield from dict.fromkeys(tag for accepted in accepted_tags(platform) for tag in _with_older(accepted))
    else:
        yield from tags.mac_platforms((int(found["major"]), int(found["minor"])), found["machine"])


def _with_older(tag: str) -> Iterator[str]:
    """Yield a tag, and directly after one with a year the older ones of that kind."""
    yield tag
    kind, _, machine = tag.partition("_")
    if kind == "manylinux2014" and machine in ("i686", "x86_64"):
        yield f"manylinux2010_{machine}"
    if kind == "manylinux2010" or (kind == "manylinux2014" and machine in ("i686", "x86_64")):
        yield f"manylinux1_{machine}"


def target_environment(target: Target) -> Environment:
    """Return the values of all markers on a target."""
    known = {**default_environment(), **marker_values(target)}
    # A Python built from a checkout has a version with a `+` at its end, which is not one of PEP 440.
    return {**known, "python_full_version": known["python_full_version"].removesuffix("+")}  # type: ignore[typeddict-item]
