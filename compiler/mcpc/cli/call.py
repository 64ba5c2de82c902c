"""`mcpc call`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.artifact import argv, built


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("target", type=click.Path(path_type=Path, exists=True))
@click.argument("tool")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@report.build_options
def command(target: Path, tool: str, arguments: tuple[str, ...], **given: Any) -> None:
    """Call TOOL of TARGET, a project's folder or a built file.

    ARGUMENTS are NAME=VALUE, where a value is JSON if it can be, else a string; or `--json OBJECT` for all of them.
    """
    with built(target, given) as path:
        status = subprocess.run(argv(path, "call", tool, *arguments), check=False).returncode
    raise click.exceptions.Exit(status)
