"""A project that requires another Python than that of mcpc: its commands run with one that is on this machine.

uv makes the environment, of this mcpc and the versions that it uses here, and keeps it in its cache.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcpc.cli import messages
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

PROGRAM = "mcpc"
HANDED_OVER = "MCPC_OTHER_PYTHON"
"""Variable of a process that was started with a fitting Python."""


def use_fitting_python(ctx: click.Context, _: click.Parameter, project: Path | None) -> Path | None:
    """Return the path of a project; if it requires another Python, run the whole command with that, and exit."""
    # The Python that was chosen does not choose again: if the two disagree, they would start each other without end.
    if project is None or ctx.find_root().info_name != PROGRAM or ctx.resilient_parsing or HANDED_OVER in os.environ:
        return project
    required = required_python(project)
    running = ".".join(map(str, sys.version_info[:3]))
    if required is not None and not required.contains(running, prereleases=True):
        fitting = fitting_python(required)
        if fitting is not None:
            python, version = fitting
            click.echo(messages.OTHER_PYTHON.format(required=required, version=version), err=True)
            sys.exit(run_with(python, sys.argv[1:]))
    return project


def required_python(project: Path) -> SpecifierSet | None:
    """Return `requires-python` of a project's folder; None if it has none that is valid."""
    from mcpc.reading.toml import parse_toml  # noqa: PLC0415 - a shell that completes does without

    with suppress(OSError, ValueError, AttributeError):  # reported where it is read
        written = parse_toml((project / "pyproject.toml").read_text("utf-8-sig")).get("project", {})
        text = written.get("requires-python")
        if isinstance(text, str):
            from packaging.specifiers import SpecifierSet  # noqa: PLC0415

            return SpecifierSet(text)
    return None


def fitting_python(required: SpecifierSet) -> tuple[str, str] | None:
    """Return the path and the version of the newest Python here that is allowed; None if there is none."""
    from mcpc.emit.interpreters import MissingPythonError, full_version, interpreter  # noqa: PLC0415
    from mcpc.packages.required_python import MINORS  # noqa: PLC0415 - few projects need another Python

    for minor in reversed(MINORS):
        with suppress(MissingPythonError):
            version = full_version(minor)
            # A release candidate, too: a specifier that names none would refuse it otherwise (PEP 440).
            if required.contains(version, prereleases=True):
                return interpreter(minor), version
    return None


def run_with(python: str, words: list[str]) -> int:
    """Run a command of mcpc with a Python, and return its exit status."""
    from uv import find_uv_bin  # noqa: PLC0415

    from mcpc.packages.required_python import origin, pins  # noqa: PLC0415

    requirement, is_editable = origin()
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        listing = Path(folder, "requirements.txt")
        listing.write_text("".join(f"{pin}\n" for pin in pins()), encoding="utf-8")
        argv = [find_uv_bin(), "run", "--no-project", "--quiet", "--python", python]
        argv += ["--with-requirements", str(listing), "--with-editable" if is_editable else "--with", requirement]
        return programs.run_in_foreground("compiler", [*argv, "python", "-m", "mcpc", *words], {HANDED_OVER: "1"})
