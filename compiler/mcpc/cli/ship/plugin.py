"""`mcpc ship plugin`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options
from mcpc.cli.carrier_files import report_unusable, server_of, write_folder
from mcpc.release.carriers.plugin import FORMS, plugin


def read_forms(_: click.Context, option: click.Parameter, given: str) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    unknown = next((name for name in names if name not in FORMS), None)
    if unknown is not None:
        raise click.BadParameter(f"`{unknown}` is not one of {', '.join(FORMS)}", param=option)
    return names


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option(
    "-o", "--output", "place", type=click.Path(path_type=Path), help="New folder to write (default: NAME-plugin)."
)
@click.option(
    "--also", default="", callback=read_forms, metavar="NAMES", help=f"Clients' own forms: {','.join(FORMS)}."
)
@click.option("--command", "starter", default="", help="Program that starts the file (default: python3).")
@command_options.build_options
def command(target: Path, place: Path | None, also: tuple[str, ...], starter: str, **given: Any) -> None:
    """Write an Agent Plugin of TARGET, a project's folder (this one by default) or a built file.

    The folder has the server and its skills; agents install it as it is.
    """
    server = server_of(target, given)
    with report_unusable():
        files = plugin(server, starter, also)
    write_folder(place or Path(f"{server.slug}-plugin"), files)
