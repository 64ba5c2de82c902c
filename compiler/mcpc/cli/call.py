"""`mcpc call`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options

if TYPE_CHECKING:
    from pathlib import Path


@command_options.command(context_settings={"ignore_unknown_options": True})
@click.argument("target", type=command_options.TARGET)
@click.argument("name", required=False, metavar="NAME", shell_complete=command_options.complete_later("names_of_kind"))
@click.argument(
    "arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=command_options.complete_later("arguments_of_kind")
)
@click.option("--resource", "kind", flag_value="read", help="NAME is the URI of a resource: print it.")
@click.option("--prompt", "kind", flag_value="prompt", help="NAME is a prompt: print its messages.")
@click.option("--dry-run", is_flag=True, help="Print what the call would send or run: a request as a curl command.")
@command_options.build_options
def command(
    target: Path, name: str | None, arguments: tuple[str, ...], kind: str | None, *, dry_run: bool, **given: Any
) -> None:
    """Call the tool NAME of TARGET, a project's folder or a built file; without a NAME, list them.

    ARGUMENTS are NAME=VALUE, or `--json OBJECT` for all of them ("-": from standard input). A VALUE is a string if the
    tool's schema allows only strings, and JSON if it does not allow strings. If the schema allows both, VALUE is read
    as JSON if the result has an allowed type (also a string in quotes), otherwise as a string. Every value of a prompt
    is a string. After a resource, `--json` prints the whole result.

    Progress and log messages go to standard error while the call runs.
    """
    from mcpc.cli.artifact import run_artifact_command  # noqa: PLC0415 - a shell that completes does without

    words = [*([name] if name else []), *arguments, *(["--dry-run"] if dry_run else [])]
    run_artifact_command(target, given, kind or "call", *words)
