"""Access to a built file: the file of a target, and the commands that start it as a process."""

from __future__ import annotations

import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from mcpc.cli import command_options, messages
from mcpc.cli.build_steps import build_project, load_or_build, write_artifact
from mcpc.cli.built_contents import FACTS
from mcpc.cli.dotenv import project_variables
from mcpc.pack.prologue import start_of
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = ("site/", "serving/")
EXTRACTED = ".extracted/"
PACKAGE_ARCHIVES = {"bytecode.zip": "", "sources.zip": "", "extracted.zip": EXTRACTED}
NESTED_PACKAGES = {f"{folder}{name}": folder + below for folder in PACKAGES for name, below in PACKAGE_ARCHIVES.items()}
"""Archives of packages inside a built file, and the folders that they stand for."""
PROJECT_VARIABLE = "MCPC_BUILT_FROM"
"""Environment variable with the path of the project from which a temporary artifact was built."""


@contextmanager
def built_artifact(target: Path, given: dict[str, Any], *, warns: bool = True) -> Iterator[Path]:
    """Yield the path of a built file: the target itself, or a temporary one built from the project.

    `warns`: warnings of the project are reported; its errors always are.
    """
    if target.is_file():
        require_artifact(target)
        yield target
        return
    options = command_options.read_options(given)
    build = build_project(target, options, "text") if warns else load_or_build(target, options, "text", None)[0]
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        path = Path(folder) / "server.pyz"
        # What is read or started right away needs no test start.
        write_artifact(build, path, tried=False)
        yield path


def run_artifact_command(target: Path, given: dict[str, Any], *words: str) -> NoReturn:
    """Run a command of a built file, or of one built from a project, and exit with its status.

    The latter runs in an empty folder, as where a client starts it: what it finds of the project is in the file.
    """
    with built_artifact(target, given) as path, tempfile.TemporaryDirectory(prefix="mcpc-") as empty:
        folder = None if target.is_file() else Path(empty)
        variables = {**project_variables(target), **artifact_environment(target)}
        status = programs.run_in_foreground("server", start_command(path, *words), variables, folder)
    raise click.exceptions.Exit(status)


def artifact_environment(target: Path) -> dict[str, str]:
    """Return the variable that names the project of a temporary artifact."""
    return {} if target.is_file() else {PROJECT_VARIABLE: str(target)}


def require_artifact(path: Path) -> None:
    """Raise a usage error if a path is not that of a built server."""
    if not path.exists():
        raise click.UsageError(messages.NO_SUCH_ARTIFACT.format(path=path))
    try:
        with zipfile.ZipFile(path) as archive:
            archive.getinfo(FACTS)
    except (zipfile.BadZipFile, KeyError, OSError, ValueError):
        raise click.UsageError(messages.NOT_BUILT_BY_MCPC.format(path=path)) from None


def start_command(path: Path, *words: str) -> list[str]:
    """Return the command that starts a built file."""
    return [*start_of(path), str(path.resolve()), *words]
