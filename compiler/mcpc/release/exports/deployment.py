"""A server and its deployment target; all values are validated before they are written to a file.

The base image has the Python, C library and platform of the native modules. A file without native modules runs on any
Python, and starts fastest with the Python of its bytecode.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.release.carriers.built_server import LINK, label_of
from mcpc.release.carriers.errors import UnusableValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.release.carriers import DeclaredSetting

LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?")
"""RFC 1123, with room for suffixes."""
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:@-]{0,254}")
UPSTREAM = re.compile(r"(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}")
PATH = re.compile(r"/[A-Za-z0-9._~/-]{0,200}")
FOLDER = re.compile(r"(?!.*\.\.)[A-Za-z0-9_.][A-Za-z0-9_./-]{0,200}")


@dataclass(frozen=True, slots=True)
class Deployment:
    """A server, and how it is to run.

    `upstreams` are the addresses of its replicas, where they are known; `base` is the base image of its container.
    `settings` are given by reference, never by value.  `url` is the address of the published file, `digest` its
    SHA-256, and `python` the minor version of Python for it.  `project`: its folder in the repository.
    """

    name: str
    version: str
    host: str = "mcp.example.com"
    image: str = ""
    base: str = "python:3.13-slim"
    path: str = "/mcp"
    replicas: int = 3
    port: int = 8000
    valkey: bool = False
    upstreams: tuple[str, ...] = ("127.0.0.1:8001", "127.0.0.1:8002", "127.0.0.1:8003")
    settings: tuple[DeclaredSetting, ...] = ()
    summary: str = ""
    homepage: str = ""
    license: str = ""
    url: str = ""
    digest: str = ""
    python: str = "3.13"
    project: str = "."

    @property
    def label(self) -> str:
        """The server's name as a valid label."""
        return label_of(self.name)

    def checked(self) -> Deployment:
        """Return this deployment, or raise UnusableValueError for an invalid value."""
        rows = [(self.host, HOST, "a host such as mcp.example.com"), (self.path, PATH, "a path such as /mcp")]
        rows += [(item, UPSTREAM, "HOST:PORT") for item in self.upstreams]
        rows += [(self.image, IMAGE, "an image such as registry.example.com/server:1")] if self.image else []
        rows += [(self.url, LINK, "the https address of a file")] if self.url else []
        rows += [(self.project, FOLDER, "a relative folder such as `servers/weather`")]
        for value, pattern, expected in rows:
            if not pattern.fullmatch(value):
                raise UnusableValueError(f"{value!r} cannot be used; expected {expected}")
        return self


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
