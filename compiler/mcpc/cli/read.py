"""`mcpc read`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options


@command_options.command()
@click.argument("target", type=click.Path(path_type=Path, exists=True))
@click.argument("uri", shell_complete=command_options.complete_later("names_of", "resources", "uri"))
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@command_options.build_options
def command(target: Path, uri: str, as_json: bool, **given: Any) -> None:
    """Print the resource URI of TARGET, a project's folder or a built file."""
    from mcpc.cli.artifact import run_artifact_command  # noqa: PLC0415 - a shell that completes does without

    run_artifact_command(target, given, "read", uri, *(["--json"] if as_json else []))
