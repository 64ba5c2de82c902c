"""`mcpc prompt`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.artifact import asked


@report.command()
@click.argument("target", type=click.Path(path_type=Path, exists=True))
@click.argument("name")
@click.argument("arguments", nargs=-1)
@report.build_options
def command(target: Path, name: str, arguments: tuple[str, ...], **given: Any) -> None:
    """Print the messages of the prompt NAME of TARGET, a project's folder or a built file.

    ARGUMENTS are NAME=VALUE; every value is a string.
    """
    asked(target, given, "prompt", name, *arguments)
