"""Node at the build: which one, whether it is new enough, and a program run in it to its end."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
from mcpc import programs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.sources import SourceTree

OLDEST = "20.0"
"""The oldest Node that tools are built for, and run in."""
PLACES = (Path(mcpc.__file__).parent / "templates", Path(mcpc.__file__).parents[2] / "templates")
"""Where our own programs are: in an installed package, and in a checkout."""
VERSION = re.compile(r"v?(\d+)\.(\d+)")
SECONDS = 120
MODULES = "node_modules"


class NodeError(Exception):
    """What is needed to bundle is not here, or does not work; the message says what."""


def program(name: str) -> bytes:
    """Return one of our own programs for Node."""
    return next(place for place in PLACES if place.is_dir()).joinpath("toolbox", name).read_bytes()


@cache
def node() -> str:
    """Return the path of Node; raise NodeError if there is none, or only one that is too old."""
    found = shutil.which("node")
    if found is None:
        raise NodeError(f"Node is not on PATH: tools in JavaScript are bundled, and run, by Node {OLDEST} or newer")
    said = version(found)
    match = VERSION.match(said)
    if match is None or int(match[1]) < int(OLDEST.partition(".")[0]):
        raise NodeError(f"{found} is {said or 'no Node'}: tools in JavaScript need Node {OLDEST} or newer")
    return found


@cache
def version(path: str) -> str:
    """Return what a program says of its version, nothing if it does not."""
    try:
        done = programs.run("node --version", [path, "--version"], 20)
    except OSError:
        return ""
    return done.stdout.decode(errors="replace").strip()


def run(words: Sequence[str], folder: Path, told: bytes = b"", *, more: Mapping[str, str] | None = None) -> bytes:
    """Return what a program of ours prints, run in Node; raise NodeError if it does not end well."""
    chosen = {**environment(folder), **(more or {})}
    try:
        done = programs.run("node", [node(), *words], SECONDS, cwd=folder, more=chosen, told=told)
    except TimeoutError as problem:
        raise NodeError(str(problem)) from None
    if done.returncode:
        raise NodeError(done.stderr.decode(errors="replace").strip()[-2000:] or f"status {done.returncode}")
    return done.stdout


def environment(folder: Path) -> dict[str, str]:
    """Return the whole environment of a process of the build: nothing of the caller's but where programs are."""
    fixed = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}
    return {"PATH": os.environ.get("PATH", os.defpath), **fixed}


def decisive(tree: SourceTree) -> tuple[str, ...]:
    """Return what decides the bundles of a project beside its sources: Node, and the packages that lie beside them.

    O(files of those packages): each is known by its size and the time of its last change.
    """
    found = shutil.which("node")
    return (version(found) if found else "", *(packages(Path(tree.root)) if tree.root else ()))


def packages(root: Path) -> tuple[str, ...]:
    """Return every file of the packages beside a project, with its size and time."""
    rows = []
    for folder, folders, files in os.walk(root / MODULES):
        folders.sort()
        for name in sorted(files):
            found = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - there may be very many
            rows.append(f"{folder}/{name} {found.st_size} {found.st_mtime_ns}")
    return tuple(rows)
