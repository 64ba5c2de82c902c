"""`mcpc build --exe`: the built file as a program for Windows."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mcpc.cli import messages
from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file

if TYPE_CHECKING:
    from mcpc.options import Options
    from mcpc.pack.cache import CachedBuild

EXACT_PYTHON = re.compile(r"python3\.(\d+)")
ANY_PYTHON = ("", "python", "python3")


def check_python_of_program(options: Options) -> None:
    """Refuse `--python` with a path or a command: they are another system's."""
    if options.python not in ANY_PYTHON and not options.minors and not EXACT_PYTHON.fullmatch(options.python):
        raise click.UsageError(messages.PYTHON_OF_PROGRAM_EXPECTED.format(python=options.python))


def as_windows_program(build: CachedBuild, options: Options) -> CachedBuild:
    """Return a build with the launcher for Windows before its archive."""
    return replace(build, data=windows_program(build.data, options))


def windows_program(archive: bytes, options: Options, minor: str = "") -> bytes:
    """Return an archive with the launcher for Windows; `minor`: its Python if the options name none."""
    exact = EXACT_PYTHON.fullmatch(options.python)
    minors = tuple(int(each.removeprefix("3.")) for each in options.minors or (minor,) if each)
    chosen = minors or (int(exact[1]) if exact else sys.version_info.minor,)
    choice = PythonChoice(chosen, is_only=exact is not None)
    return windows_file(archive, machine_of(options), choice)


def machine_of(options: Options) -> str:
    """Return the machine whose launcher is used: arm64 if the file is built for it alone; others run x64's, too."""
    windows = {tag.partition("-")[0] for tag in options.platforms if tag.startswith("win_")}
    return "arm64" if windows == {"win_arm64"} else "x64"
