"""From a target to a `BuiltServer`, and from a carrier to files: what the commands of carriers share."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.artifact import built_artifact
from mcpc.cli.build_steps import (
    atomic_write,
    build_for_usual_machines,
    output_path,
    refuse_unwritable,
    write_artifact,
)
from mcpc.cli.built_contents import READ_ERRORS, artifact_contents, stored_entry
from mcpc.release.carriers import BuiltServer, UnusableFileError, UnusableValueError, built_server
from mcpc.release.carriers.built_server import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.release.carriers.built_server import CarrierFile


class WrongFileError(click.UsageError):
    """A file that a command was given is damaged, or for another machine."""

    exit_code = 6


def read_built_server(path: Path) -> BuiltServer:
    """Return the value of a built file, which is read and not run."""
    contents = artifact_contents(path)
    try:
        with zipfile.ZipFile(path) as archive:
            blob = stored_entry(archive, "mcpc_app/blob")
        return built_server(contents, blob, path.read_bytes())
    except UnusableValueError:
        raise
    except READ_ERRORS:
        raise click.UsageError(messages.DAMAGED.format(path=path)) from None


def server_of(target: Path, given: dict[str, Any], *, for_clients: bool = False) -> BuiltServer:
    """Return the built file that a command names, or that of the project that it names.

    `for_clients`: the latter for the machines that clients run on, unless options or the project name others.
    """
    if for_clients and target.is_dir():
        with tempfile.TemporaryDirectory(prefix="mcpc-") as folder, report_unusable():
            return server_for_clients(target, given, Path(folder) / "server.pyz", tried=False)
    with built_artifact(target, {**given, "every_python": True}) as path, report_unusable():
        return read_built_server(path)


def server_for_clients(project: Path, given: dict[str, Any], path: Path, *, tried: bool = True) -> BuiltServer:
    """Build a project to a path, for the machines that clients run on."""
    options = command_options.read_options({**given, "every_python": True})
    write_artifact(build_for_usual_machines(project, options), path, tried=tried)
    return read_built_server(path)


def program_of(server: BuiltServer, path: Path) -> BuiltServer:
    """Return a program of a server, which was built from the same sources."""
    if not path.is_file():
        raise click.UsageError(messages.CANNOT_READ.format(path=path, problem="it is not a file"))
    program = read_built_server(path)
    if program.source_digest != server.source_digest:
        raise UnusableFileError(messages.OTHER_SOURCES.format(path=path))
    return program


def write_file(target: Path, data: bytes, mode: int = PLAIN) -> None:
    """Write a file atomically, and print what was written."""
    place = output_path(target)
    with refuse_unwritable(target):
        place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place, data, mode):
        pass
    click.echo(f"{target}: {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}", err=True)


def write_folder(target: Path, files: Iterable[CarrierFile]) -> None:
    """Write a new folder, whole or not at all; an earlier one that a carrier wrote must be removed first."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise click.UsageError(messages.OUTPUT_EXISTS.format(path=target))
    with refuse_unwritable(target):
        place = Path(os.path.realpath(target))
        place.parent.mkdir(parents=True, exist_ok=True)
        # Beside its place, so that it is on the same file system: the rename shows the whole folder at once.
        with tempfile.TemporaryDirectory(prefix=".mcpc-", dir=place.parent) as folder:
            made = Path(folder) / place.name
            count = write_files(made, files)
            # An empty folder, which POSIX would replace, but Windows does not.
            if place.exists():
                place.rmdir()
            made.rename(place)
    click.echo(f"{target}: {count} files", err=True)


def write_files(folder: Path, files: Iterable[CarrierFile]) -> int:
    """Write files below a new folder with their modes, and return their number."""
    folder.mkdir()
    # The mask can only be read by setting it; what it forbids is taken from the modes of the files.
    mask = os.umask(0o077)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)
    count = 0
    for file in sorted(files):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(file.mode & ~mask)
        count += 1
    return count


@contextmanager
def report_unusable() -> Iterator[None]:
    """Report a value or a file that no carrier can be made of, with its exit code."""
    try:
        yield
    except UnusableValueError as problem:
        error = WrongFileError if isinstance(problem, UnusableFileError) else click.UsageError
        raise error(str(problem)) from None
