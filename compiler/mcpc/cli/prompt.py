"""`mcpc prompt`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options


@command_options.command()
@click.argument("target", type=click.Path(path_type=Path, exists=True))
@click.argument("name", shell_complete=command_options.complete_later("names_of", "prompts"))
@click.argument("arguments", nargs=-1, shell_complete=command_options.complete_later("prompt_arguments"))
@command_options.build_options
def command(target: Path, name: str, arguments: tuple[str, ...], **given: Any) -> None:
    """Print the messages of the prompt NAME of TARGET, a project's folder or a built file.

    ARGUMENTS are NAME=VALUE; every value is a string.
    """
    from mcpc.cli.artifact import run_artifact_command  # noqa: PLC0415 - a shell that completes does without

    run_artifact_command(target, given, "prompt", name, *arguments)
