"""`mcpc install` and `mcpc uninstall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.client_commands import (
    TARGET_ARGUMENT,
    artifact_for_url,
    client_options,
    described_artifact,
    installable_artifact,
    require_clients,
    run_client_command,
)

if TYPE_CHECKING:
    from pathlib import Path

OF_PRINTED = ("link", "badge", "command")
"""Options of entries that are printed."""


@command_options.command(command_options.WordsCommand)
@TARGET_ARGUMENT
@click.option("--print", "prints", is_flag=True, help="Print the entry and where it goes, and write nothing.")
@client_options("install", "config")
@command_options.build_options
def command(target: Path | None, prints: bool, output: str, **given: Any) -> None:
    """Add TARGET, a built file or a project, to the configuration of MCP clients.

    A project is built, and the file is written into the folder of this user's servers. What else a client's file has
    stays as it is, and each change leaves a backup. Entries of other servers with the same name are not replaced.
    WORDS are for the program of a server for FastMCP or the SDK: clients start it with them.

    `--link` and `--badge` print what adds a server with one click: one at a URL, or one with a command that is the
    same on every machine.
    """
    is_link = bool(given["link"] or given["badge"])
    if not (prints or is_link) and given["command"]:
        raise click.UsageError(messages.PRINT_EXPECTED)
    if not is_link:
        require_clients(given)
    if prints or is_link:
        with artifact_for_url(target, given) or described_artifact(target, given) as artifact:
            run_client_command("config", artifact, given, "text")
        return
    with artifact_for_url(target, given) or installable_artifact(target, given) as artifact:
        run_client_command("install", artifact, given, output)


@command_options.command()
@click.argument("name")
@client_options("uninstall")
def uninstall(name: str, output: str, **given: Any) -> None:
    """Remove the entry NAME from the configuration of MCP clients.

    A file that nothing else has changed since the entry was added becomes what it was, byte for byte.
    """
    given["name"] = name
    run_client_command("uninstall", None, given, output)
