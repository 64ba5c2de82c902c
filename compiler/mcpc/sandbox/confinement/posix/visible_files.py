"""Which folders of its user a confined program does not see, and what in them it does see."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.sandbox.confinement.model import ConfinedProgram

SHARED = ("/run", "/var/run", "/tmp", "/var/tmp")
"""Folders with sockets of agents and services, and files of other programs."""
BESIDE_PROGRAMS = ("lib", "lib64", "pyvenv.cfg")
"""What an interpreter finds beside the folder of its program."""


def visible_files(job: ConfinedProgram) -> tuple[list[str], list[str]]:
    """Return the folders that are hidden, and the paths in them that are not; of either, none is in another.

    Hidden are homes of the user and SHARED.  A program sees its folder, what it must be able to read, its interpreter
    with its libraries and packages, and the folders of PATH.
    """
    needed = _needed_paths(job)
    homes = (os.environ.get("HOME", ""), pwd.getpwuid(os.getuid()).pw_dir)
    folders = {path.resolve() for path in map(Path, (*homes, *SHARED)) if path.is_absolute()}
    hidden = _outermost({folder for folder in folders if folder.is_dir() and folder != Path("/")} - needed)
    return [*map(str, hidden)], [*map(str, _outermost({path for path in needed if hidden.keys() & {*path.parents}}))]


def _needed_paths(job: ConfinedProgram) -> set[Path]:
    program = Path(job.words[0])
    programs = {program, program.resolve()}
    needed = {job.root, *map(Path, job.readable), *programs}
    needed |= {place.parent.parent / name for place in programs for name in BESIDE_PROGRAMS}
    packages = map(Path, sys.path) if job.words[0] == sys.executable else ()  # an environment may extend another one
    needed |= {folder for folder in (*map(Path, os.get_exec_path()), *packages) if folder.is_absolute()}
    return needed | {path.resolve() for path in needed}


def _outermost(paths: set[Path]) -> dict[Path, None]:
    return dict.fromkeys(sorted(path for path in paths if not paths & {*path.parents}))
