"""`mcpc call`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.artifact import asked


@report.command(context_settings={"ignore_unknown_options": True})
@click.argument("target", type=click.Path(path_type=Path, exists=True))
@click.argument("tool")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@report.build_options
def command(target: Path, tool: str, arguments: tuple[str, ...], **given: Any) -> None:
    """Call TOOL of TARGET, a project's folder or a built file.

    ARGUMENTS are NAME=VALUE, or `--json OBJECT` for all of them ("-": from standard input). A VALUE is a string where
    the tool's schema allows only strings, and JSON where it allows none. Where it allows both, or anything, it is JSON
    if that is of an allowed type (a string in quotes, too), else a string.

    Progress and log messages go to standard error while the call runs.
    """
    asked(target, given, "call", tool, *arguments)
