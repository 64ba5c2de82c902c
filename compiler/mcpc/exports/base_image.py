"""The image that a built file runs in: the Python, the C library and the machine that what it carries was made for.

A file without native modules runs on any Python; it starts fastest on the one that its bytecode is of.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.exports.deployment import UnfitError

if TYPE_CHECKING:
    from collections.abc import Iterable

GLIBC, MUSL = "slim", "alpine"
"""The variants of the official image that have each C library."""
LINUX = re.compile(r"(?P<libc>many|musl)?linux[0-9_]*_(?P<machine>x86_64|aarch64)")
MACHINES = {"x86_64": "linux/amd64", "aarch64": "linux/arm64"}
OLDEST = 11
"""The oldest Python that a built file runs on: 3.11."""


def base_image(bytecode: str, platforms: Iterable[str]) -> str:
    """Return what stands after FROM, for the Python of the bytecode and the tags of the native modules.

    Raises UnfitError if no image can have what the modules were built for.
    """
    minor = int(bytecode.split(".")[1])
    tags = [tag.split("-") for tag in platforms]
    if not tags:
        return f"python:3.{minor}-{GLIBC}"
    on_linux = [(python, abi, found) for python, abi, where in tags if (found := LINUX.fullmatch(where))]
    if not on_linux:
        named = ", ".join(sorted({where for *_, where in tags}))
        words = "build it with `--platform manylinux2014_x86_64`, or where it is to run"
        raise UnfitError(f"the packages that the file carries are for {named}, and containers run Linux: {words}")
    wanted = chosen_minor(minor, [(python, abi) for python, abi, _ in on_linux])
    machines = {MACHINES[found["machine"]] for *_, found in on_linux}
    variant = MUSL if all(found["libc"] == "musl" for *_, found in on_linux) else GLIBC
    platform = f"--platform={machines.pop()} " if len(machines) == 1 else ""
    return f"{platform}python:3.{wanted}-{variant}"


def chosen_minor(minor: int, tags: list[tuple[str, str]]) -> int:
    """Return the minor version that modules with these tags can be loaded by: the bytecode's own, if it is one."""
    exact = {int(python[3:]) for python, abi in tags if abi.startswith("cp") and python[3:].isdigit()}
    least = max((int(python[3:]) for python, abi in tags if abi == "abi3" and python[3:].isdigit()), default=OLDEST)
    if exact:
        return minor if minor in exact else max(exact)
    return max(minor, least)
