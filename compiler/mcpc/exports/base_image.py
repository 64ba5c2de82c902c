"""The base image of a built file's container: the Python, C library and platform of its native modules.

A file without native modules runs on any Python; it starts fastest with the Python of its bytecode.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.exports.deployment import UnusableValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

GLIBC, MUSL = "slim", "alpine"
"""The variants of the official image that have each C library."""
LINUX = re.compile(r"(?P<libc>many|musl)?linux[0-9_]*_(?P<machine>x86_64|aarch64)")
MACHINES = {"x86_64": "linux/amd64", "aarch64": "linux/arm64"}
MIN_MINOR = 11
"""The minor version of the oldest supported Python: 3.11."""


def base_image(bytecode: str, platforms: Iterable[str]) -> str:
    """Return the image name for FROM, by the Python of the bytecode and the tags of the native modules.

    Raises UnfitError if no image supports the native modules.
    """
    minor = int(bytecode.split(".")[1])
    tags = [tag.split("-") for tag in platforms]
    if not tags:
        return f"python:3.{minor}-{GLIBC}"
    on_linux = [(python, abi, found) for python, abi, where in tags if (found := LINUX.fullmatch(where))]
    if not on_linux:
        named = ", ".join(sorted({where for *_, where in tags}))
        words = "build it with `--platform manylinux2014_x86_64`, or on the target platform"
        raise UnusableValueError(f"the packages in the file are for {named}, but containers run Linux: {words}")
    wanted = chosen_minor(minor, [(python, abi) for python, abi, _ in on_linux])
    machines = {MACHINES[found["machine"]] for *_, found in on_linux}
    variant = MUSL if all(found["libc"] == "musl" for *_, found in on_linux) else GLIBC
    platform = f"--platform={machines.pop()} " if len(machines) == 1 else ""
    return f"{platform}python:3.{wanted}-{variant}"


def chosen_minor(minor: int, tags: list[tuple[str, str]]) -> int:
    """Return a minor version that can load modules with these tags: the bytecode's own, if possible."""
    exact = {int(python[3:]) for python, abi in tags if abi.startswith("cp") and python[3:].isdigit()}
    least = max((int(python[3:]) for python, abi in tags if abi == "abi3" and python[3:].isdigit()), default=MIN_MINOR)
    if exact:
        return minor if minor in exact else max(exact)
    return max(minor, least)
