"""`mcpc read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, path_arguments

if TYPE_CHECKING:
    from pathlib import Path


@command_options.command()
@click.argument("target", type=path_arguments.TARGET)
@click.argument(
    "uri", required=False, metavar="URI", shell_complete=command_options.complete_later("names_of", "resources", "uri")
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@command_options.build_options
def command(target: Path, uri: str | None, as_json: bool, **given: Any) -> None:
    """Print the resource URI of TARGET, a project's folder or a built file."""
    from mcpc.cli.artifact import run_artifact_command  # noqa: PLC0415 - a shell that completes does without

    words = [uri, *(["--json"] if as_json else [])] if uri else []
    run_artifact_command(target, given, "read", *words)
