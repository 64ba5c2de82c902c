"""`mcpc new`."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import click

from mcpc.cli import messages
from mcpc.emit.templates import template_folder
from mcpc.platforms.console import quoted_word, start_of_file

TEMPLATES = ("bash", "functions", "python")
"""Bash functions with JSON; decorated Python functions; Python functions with JSON."""

TEMPLATE_SERVER_NAME = "my-server"
"""The server name in every template; replaced by the folder's name if that is a plain name."""
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "--template", type=click.Choice(TEMPLATES), default="functions", show_default=True, help="Style of the project."
)
def command(project: Path, template: str) -> None:
    """Create a project in the folder PROJECT: a working server with a tool and a prompt."""
    if project.exists() and (not project.is_dir() or any(project.iterdir())):
        raise click.UsageError(messages.ALREADY_EXISTS.format(path=project))
    files = {
        path.name: path.read_bytes() for path in (template_folder() / "new" / template).iterdir() if path.is_file()
    }
    try:
        project.mkdir(parents=True, exist_ok=True)
        for name, data in sorted(files.items()):
            (project / name).write_bytes(rename_server(project.resolve().name, data))
    except OSError as problem:
        for name in files:  # on failure remove all files: the next attempt needs an empty folder
            with suppress(OSError):
                (project / name).unlink()
        raise click.UsageError(
            messages.CANNOT_WRITE.format(path=project, problem=problem.strerror or problem)
        ) from None
    for name in sorted(files):
        click.echo(project / name, err=True)
    click.echo(
        f"\nnext: mcpc build {quoted_word(str(project))} -o server.pyz && {start_of_file('server.pyz')} list", err=True
    )


def rename_server(name: str, data: bytes) -> bytes:
    """Return a template file with the server's name replaced by `name`."""
    new_name = name if PLAIN_NAME.fullmatch(name) else TEMPLATE_SERVER_NAME
    return data.replace(f'"{TEMPLATE_SERVER_NAME}"'.encode(), f'"{new_name}"'.encode())
