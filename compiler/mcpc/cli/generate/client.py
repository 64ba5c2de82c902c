"""`mcpc generate client`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.cli.server_targets import THIS_FOLDER, CommandWithServer, connection_options, read_server_target
from mcpc.workbench.stubs import MARK, client_types, python_client

STANDARD_OUTPUT = "-"


@click.command(cls=CommandWithServer)
@click.argument("target", default=THIS_FOLDER)
@click.option(
    "-o", "--output", "place", default=STANDARD_OUTPUT, metavar="FILE", help="File to write (default: print)."
)
@connection_options
@command_options.build_options
def command(target: str, place: str, **given: Any) -> None:
    """Write a typed client in Python for the tools of TARGET: a class with a method for each tool.

    TARGET is a project's folder (this one by default), a built file, a snapshot, the address of a server, or a command
    after `--`. The client is one file without dependencies; it calls tools through a client of the official SDKs.
    """
    path = None if place == STANDARD_OUTPUT else own_file(output_path(Path(place)))
    text = python_client(client_types(read_server_target(target, given)))
    if path is None:
        click.echo(text, nl=False)
        return
    with atomic_write(path, text.encode(), 0o666):
        pass


def own_file(place: Path) -> Path:
    """Return the path to write to; refuse to overwrite a file that contains something else."""
    if place.exists() and place.read_bytes().strip() and not place.read_bytes().startswith(MARK.encode()):
        raise click.UsageError(messages.NOT_STUBS.format(path=place))
    return place
