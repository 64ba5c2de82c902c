"""`mcpc prompt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, path_arguments

if TYPE_CHECKING:
    from pathlib import Path


@command_options.command()
@click.argument("target", type=path_arguments.TARGET)
@click.argument(
    "name", required=False, metavar="NAME", shell_complete=command_options.complete_later("names_of", "prompts")
)
@click.argument("arguments", nargs=-1, shell_complete=command_options.complete_later("prompt_arguments"))
@command_options.build_options
def command(target: Path, name: str | None, arguments: tuple[str, ...], **given: Any) -> None:
    """Print the messages of the prompt NAME of TARGET, a project's folder or a built file.

    ARGUMENTS are NAME=VALUE; every value is a string.
    """
    from mcpc.cli.artifact import run_artifact_command  # noqa: PLC0415 - a shell that completes does without

    run_artifact_command(target, given, "prompt", *filter(None, [name]), *arguments)
