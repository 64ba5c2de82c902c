"""Node during the build: its path, its version, and how a program is run in it."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.reading import SourceTree

OLDEST_NODE = "20.0"
"""The oldest Node that tools are built for, and run in."""
TEMPLATE_FOLDERS = (Path(mcpc.__file__).parent / "templates", Path(mcpc.__file__).parents[2] / "templates")
"""Folders of mcpc's programs: in an installed package, and in a checkout."""
VERSION = re.compile(r"v?(\d+)\.(\d+)")
TIMEOUT_SECONDS = 120
MODULES = "node_modules"


class NodeError(Exception):
    """Something that bundling needs is missing or does not work; the message describes it."""


def mcpc_program(name: str) -> bytes:
    """Return one of mcpc's programs for Node."""
    return next(place for place in TEMPLATE_FOLDERS if place.is_dir()).joinpath("toolbox", name).read_bytes()


@cache
def node_path() -> str:
    """Return the path of Node; raise NodeError if there is none, or only one that is too old."""
    found = shutil.which("node")
    if found is None:
        raise NodeError(
            f"Node is not on PATH: tools in JavaScript are bundled, and run, by Node {OLDEST_NODE} or newer"
        )
    said = program_version(found)
    match = VERSION.match(said)
    if match is None or int(match[1]) < int(OLDEST_NODE.partition(".")[0]):
        raise NodeError(f"{found} is {said or 'not Node'}: tools in JavaScript need Node {OLDEST_NODE} or newer")
    return found


@cache
def program_version(path: str) -> str:
    """Return the version that a program prints, or an empty string."""
    try:
        done = programs.run_program("node --version", [path, "--version"], 20)
    except OSError:
        return ""
    return done.stdout.decode(errors="replace").strip()


def run_node(words: Sequence[str], folder: Path, told: bytes = b"", *, more: Mapping[str, str] | None = None) -> bytes:
    """Return the output of an mcpc program in Node; raise NodeError if it fails."""
    chosen = {**build_environment(folder), **(more or {})}
    try:
        done = programs.run_program("node", [node_path(), *words], TIMEOUT_SECONDS, cwd=folder, more=chosen, told=told)
    except TimeoutError as problem:
        raise NodeError(str(problem)) from None
    if done.returncode:
        raise NodeError(done.stderr.decode(errors="replace").strip()[-2000:] or f"status {done.returncode}")
    return done.stdout


def build_environment(folder: Path) -> dict[str, str]:
    """Return the complete environment of a build process: of the caller's variables only PATH."""
    fixed = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}
    return {"PATH": os.environ.get("PATH", os.defpath), **fixed}


def build_inputs(tree: SourceTree) -> tuple[str, ...]:
    """Return what a project's bundles depend on besides its sources: Node, and the packages beside them.

    O(files of those packages): each is identified by its size and modification time.
    """
    found = shutil.which("node")
    return (program_version(found) if found else "", *(package_files(Path(tree.root)) if tree.root else ()))


def package_files(root: Path) -> tuple[str, ...]:
    """Return every file of the packages beside a project, with its size and time."""
    rows = []
    for folder, folders, files in os.walk(root / MODULES):
        folders.sort()
        for name in sorted(files):
            found = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - there may be very many
            rows.append(f"{folder}/{name} {found.st_size} {found.st_mtime_ns}")
    return tuple(rows)
