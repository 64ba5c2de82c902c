"""Whether a wheel's tag (python, abi, platform) is one of this interpreter on this machine."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Variant = dict[str, Any]

OWN = f"cp{sys.version_info[0]}{sys.version_info[1]}"
LEGACY = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
"""The names that versions of the GNU C library had before they were numbers (PEP 600)."""


def fitting(variants: Sequence[Variant]) -> Variant | None:
    """Return the variant of a parcel that can be loaded here."""
    return next((one for one in variants if any(map(fits, one["tags"]))), None)


def refusal(variants: Sequence[Variant]) -> str:
    """Return why none of them can be: what they are for, and what this is."""
    tags = ", ".join(tag for one in variants for tag in one["tags"])
    return f"the server carries it for {tags}, and this is {here()}; `mcpc build --platform` carries it for more"


def fits(tag: str) -> bool:
    """Tell whether what has this tag can be loaded here."""
    python, abi, platform = tag.split("-")
    return fits_python(python, abi) and (platform == "any" or SYSTEMS.get(sys.platform, never)(platform))


def here() -> str:
    """Return what this interpreter and machine are, for a person."""
    libc = glibc()
    version = f" with glibc {libc[0]}.{libc[1]}" if libc else ""
    name = "Python" if sys.implementation.name == "cpython" else sys.implementation.name
    return f"{name} {OWN[2]}.{OWN[3:]}{sys.abiflags} on {sys.platform} {os.uname().machine}{version}"


def fits_python(python: str, abi: str) -> bool:
    """Tell whether modules for this interpreter and binary interface can be loaded by this one."""
    if abi == "none":
        return python in ("py3", f"py{OWN[2:]}", OWN)
    if sys.implementation.name != "cpython":
        return False
    if abi == "abi3":
        return python[:3] == "cp3" and python[3:].isdigit() and int(python[3:]) <= sys.version_info[1]
    return python == OWN and abi == OWN + sys.abiflags


def fits_linux(platform: str) -> bool:
    """Tell whether this Linux is of the platform, and has its C library, as new at least."""
    kind, _, rest = platform.partition("_")
    if not platform.endswith(f"_{os.uname().machine}"):
        return False
    libc = glibc()
    if kind == "linux":
        return True
    if kind == "musllinux":
        return libc is None
    numbers = rest.split("_")[:2]
    wanted = LEGACY.get(kind) or (int(numbers[0]), int(numbers[1]))
    return libc is not None and libc >= wanted


def fits_macos(platform: str) -> bool:
    """Tell whether this macOS is of the platform, and as new at least."""
    _, major, minor, machine = platform.split("_", 3)
    return machine in ("universal2", os.uname().machine) and macos() >= (int(major), int(minor))


def glibc() -> tuple[int, int] | None:
    """Return the version of the GNU C library; None where there is another."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        major, minor = version.split(".")[:2]
    except (AttributeError, OSError, ValueError):
        return None
    return (int(major), int(minor)) if name == "glibc" else None


def macos() -> tuple[int, int]:
    """Return the version of macOS, which follows from its kernel's: Darwin 20 is 11, Darwin 25 is 26."""
    darwin = int(os.uname().release.partition(".")[0])
    if darwin < 20:
        return 10, darwin - 4
    return (darwin - 9 if darwin < 25 else darwin + 1), 0


def never(platform: str) -> bool:
    """Tell that nothing native fits a system that servers do not run on."""
    return False


SYSTEMS = {"linux": fits_linux, "darwin": fits_macos}
