"""Check whether a wheel's tag (python, abi, platform) matches this interpreter and machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from sysconfig import get_platform
from typing import Any

from mcpc_runtime.transports.platforms import system

PYTHON_TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}"
ABI_FLAGS = getattr(sys, "abiflags", "")
"""`t` in a free-threaded Python; Windows lacks the attribute before 3.14."""
LEGACY_GLIBC = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
"""The minimum glibc version of the legacy platform names (PEP 600)."""


def fits(targets: Sequence[Sequence[Sequence[str]]], running: str = PYTHON_TAG) -> bool:
    """Tell whether this machine is one of some targets, each the tags of its wheels; `running`: the tag of a Python."""
    return any(all(any(matches_tag(tag, running) for tag in tags) for tags in wheels) for wheels in targets)


def runs_here(index: dict[str, Any]) -> bool:
    """Tell whether the machine code of a file can be loaded on this machine, by this Python."""
    return fits(index["natives"]) or (fits(index["compressed"]) and has_lzma())


def has_lzma() -> bool:
    """Tell whether this Python can decompress machine code; one that was built without liblzma cannot."""
    return find_spec("_lzma") is not None


def matches_tag(tag: str, running: str = PYTHON_TAG) -> bool:
    """Tell whether a wheel with this tag can be loaded on this machine; `running`: the tag of a Python."""
    python, abi, platform = tag.split("-")
    matches_system = SYSTEMS.get(sys.platform)
    return matches_python(python, abi, running) and (
        platform == "any" or (matches_system is not None and matches_system(platform))
    )


def describe_platform() -> str:
    """Describe this interpreter and machine."""
    libc = glibc_version()
    version = f" with glibc {libc[0]}.{libc[1]}" if libc else ""
    name = "Python" if sys.implementation.name == "cpython" else sys.implementation.name
    return f"{name} {PYTHON_TAG[2]}.{PYTHON_TAG[3:]}{ABI_FLAGS} on {sys.platform} {machine()}{version}"


def matches_python(python: str, abi: str, running: str) -> bool:
    """Tell whether modules with this python and abi tag can be loaded by an interpreter of this kind."""
    if abi == "none":
        return python in ("py3", f"py{running[2:]}", running)
    if sys.implementation.name != "cpython":
        return False
    if abi == "abi3":
        # A free-threaded Python has another ABI than the stable one.
        return not ABI_FLAGS and python[:3] == "cp3" and python[3:].isdigit() and int(python[3:]) <= int(running[3:])
    return python == running and abi == running + ABI_FLAGS


def matches_linux(platform: str) -> bool:
    """Tell whether this Linux matches a platform tag: machine, C library, and its minimum version."""
    kind, _, rest = platform.partition("_")
    if not platform.endswith(f"_{machine()}"):
        return False
    libc = glibc_version()
    # A tag without a C library: the wheel was built for machines like that of the build.
    if kind == "linux":
        return True
    # On Linux a C library that is not glibc is taken for musl.
    if kind == "musllinux":
        return libc is None
    numbers = rest.split("_")[:2]
    minimum = LEGACY_GLIBC.get(kind) or (int(numbers[0]), int(numbers[1]))
    return libc is not None and libc >= minimum


def matches_macos(platform: str) -> bool:
    """Tell whether this macOS matches a platform tag: machine and minimum version."""
    _, major, minor, wanted = platform.split("_", 3)
    return wanted in ("universal2", machine()) and macos_version() >= (int(major), int(minor))


def matches_windows(platform: str) -> bool:
    """Tell whether this interpreter for Windows matches a platform tag."""
    return platform == get_platform().replace("-", "_")


def machine() -> str:
    """Return what kind of machine this is: `x86_64`, `arm64`; on Windows the interpreter's, `amd64`."""
    return get_platform().rpartition("-")[2] if sys.platform == "win32" else system.uname().machine


def glibc_version() -> tuple[int, int] | None:
    """Return the version of glibc; None if the C library is another one."""
    try:
        name, _, version = (system.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        major, minor = version.split(".")[:2]
    except (AttributeError, OSError, ValueError):
        return None
    return (int(major), int(minor)) if name == "glibc" else None


def macos_version() -> tuple[int, int]:
    """Return the version of macOS, derived from the kernel's: Darwin 20 is 11, Darwin 25 is 26."""
    darwin = int(system.uname().release.partition(".")[0])
    if darwin < 20:
        return 10, darwin - 4
    return (darwin - 9 if darwin < 25 else darwin + 1), 0


SYSTEMS = {"linux": matches_linux, "darwin": matches_macos, "win32": matches_windows}
"""The systems for which native packages are supported."""
