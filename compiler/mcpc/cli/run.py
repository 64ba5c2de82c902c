"""`mcpc run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from mcpc import programs
from mcpc.cli import report
from mcpc.cli.artifact import argv, built, environment


@report.command()
@click.argument("target", type=click.Path(path_type=Path, exists=True), default=Path())
@report.build_options
def command(target: Path, **given: Any) -> None:
    """Serve TARGET, a project's folder (this one by default) or a built file, over standard input and output."""
    with built(target, given) as path:
        told = environment(target) if sys.stdin.isatty() else {}  # for a person, whom the server greets
        status = programs.attend("server", argv(path), told)
    raise click.exceptions.Exit(report.UNREACHABLE if status < 0 else status)
