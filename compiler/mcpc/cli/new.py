"""`mcpc new`."""

from __future__ import annotations

import re
import shutil
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
    try:
        shutil.copytree(
            folder() / "new" / template,
            project,
            copy_function=shutil.copyfile,
            ignore=shutil.ignore_patterns("__pycache__"),
            dirs_exist_ok=True,
        )
    except OSError as problem:
        raise click.UsageError(f"cannot write {project}: {problem.strerror or problem}") from None
    for path in sorted(project.rglob("*")):
        name_after(project.resolve().name, path)
        click.echo(path, err=True)
    click.echo(f"\nnow: mcpc build {project} -o server.pyz && ./server.pyz list", err=True)


def name_after(name: str, path: Path) -> None:
    """Call the server in a file of the template `name`."""
    if PLAIN.fullmatch(name) and path.is_file():
        path.write_bytes(path.read_bytes().replace(f'"{NAMED}"'.encode(), f'"{name}"'.encode()))
