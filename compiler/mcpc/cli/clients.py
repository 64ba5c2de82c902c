"""`mcpc clients`."""

from __future__ import annotations

from typing import Any

from mcpc.cli import command_options
from mcpc.cli.client_commands import client_options, run_client_command


@command_options.command()
@client_options("clients")
def command(output: str, **given: Any) -> None:
    """List the MCP clients on this machine, the servers that each has, and what is missing of them."""
    run_client_command("clients", None, given, output)
