"""`mcpc uninstall`."""

from __future__ import annotations

from typing import Any

import click

from mcpc.cli import command_options
from mcpc.cli.client_commands import client_options, run_client_command


@command_options.command()
@click.argument("name")
@client_options("uninstall")
def command(name: str, output: str, **given: Any) -> None:
    """Remove the entry NAME from the configuration of MCP clients.

    A file that nothing else has changed since the entry was added becomes what it was, byte for byte.
    """
    given["name"] = name
    run_client_command("uninstall", None, given, output)
