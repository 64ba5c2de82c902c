"""`mcpc new`."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path

import click

from mcpc.emit.templates import folder

TEMPLATES = ("bash", "functions", "python")
"""Bash functions and JSON; Python functions that say all themselves; Python functions and JSON."""

NAMED = "my-server"
"""What the server of every template is called; a new one is called as its folder, if that is a plain name."""
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "--template", type=click.Choice(TEMPLATES), default="functions", show_default=True, help="What it is written in."
)
def command(project: Path, template: str) -> None:
    """Start a project in the folder PROJECT: a server with a tool and a prompt that work."""
    if project.exists() and (not project.is_dir() or any(project.iterdir())):
        raise click.UsageError(f"{project} is there already; a new project wants a new or an empty folder")
    files = {path.name: path.read_bytes() for path in (folder() / "new" / template).iterdir() if path.is_file()}
    try:
        project.mkdir(parents=True, exist_ok=True)
        for name, data in sorted(files.items()):
            (project / name).write_bytes(named_after(project.resolve().name, data))
    except OSError as problem:
        for name in files:  # half of a project is not left behind: the next try wants an empty folder
            with suppress(OSError):
                (project / name).unlink()
        raise click.UsageError(f"cannot write {project}: {problem.strerror or problem}") from None
    for name in sorted(files):
        click.echo(project / name, err=True)
    click.echo(f"\nnow: mcpc build {shlex.quote(str(project))} -o server.pyz && ./server.pyz list", err=True)


def named_after(name: str, data: bytes) -> bytes:
    """Return a file of a template with the server in it called `name`."""
    return data.replace(f'"{NAMED}"'.encode(), f'"{name}"'.encode()) if PLAIN.fullmatch(name) else data
