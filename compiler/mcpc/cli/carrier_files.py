"""From a target to a `BuiltServer`, and from a carrier to files: what the commands of carriers share."""

from __future__ import annotations

import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mcpc.carriers import BuiltServer, UnusableFileError, UnusableValueError, built_server
from mcpc.cli import messages
from mcpc.cli.artifact import READ_ERRORS, artifact_contents, built_artifact, stored_entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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


def server_of(target: Path, given: dict[str, Any]) -> BuiltServer:
    """Return the built file that a command names, or that of the project that it names."""
    with built_artifact(target, given) as path, report_unusable():
        return read_built_server(path)


@contextmanager
def report_unusable() -> Iterator[None]:
    """Report a value or a file that no carrier can be made of, with its exit code."""
    try:
        yield
    except UnusableValueError as problem:
        error = WrongFileError if isinstance(problem, UnusableFileError) else click.UsageError
        raise error(str(problem)) from None
