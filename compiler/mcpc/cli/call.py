"""`mcpc call`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, path_arguments

if TYPE_CHECKING:
    from pathlib import Path


@command_options.command(context_settings={"ignore_unknown_options": True})
@click.argument("target", type=path_arguments.TARGET)
@click.argument(
    "tool", required=False, metavar="TOOL", shell_complete=command_options.complete_later("names_of", "tools")
)
@click.argument(
    "arguments",
    nargs=-1,
    type=click.UNPROCESSED,
    shell_complete=command_options.complete_later("tool_arguments"),
)
@command_options.build_options
def command(target: Path, tool: str | None, arguments: tuple[str, ...], **given: Any) -> None:
    """Call TOOL of TARGET, a project folder or a built file.

    ARGUMENTS are NAME=VALUE, or `--json OBJECT` for all of them ("-": from standard input). A VALUE is a string if the
    tool's schema allows only strings, and JSON if it does not allow strings. If the schema allows both, VALUE is read
    as JSON if the result has an allowed type (also a string in quotes), otherwise as a string.

    Progress and log messages go to standard error while the call runs.
    """
    from mcpc.cli.artifact import run_artifact_command  # noqa: PLC0415 - a shell that completes does without

    run_artifact_command(target, given, "call", *filter(None, [tool]), *arguments)
