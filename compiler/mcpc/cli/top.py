"""`mcpc top`: the command `top` of built files, for a server that is not at hand as a file."""

from __future__ import annotations

from typing import Any

import click

from mcpc.cli import command_options
from mcpc.cli.server_targets import UnansweredError
from mcpc_runtime.tools.cli.top.command import InvalidOptionError, TopOptions, run
from mcpc_runtime.tools.cli.top.connection import UnreachableError, UnusableAddressError
from mcpc_runtime.tools.cli.top.frame import SORTS


@click.command()
@click.argument("address")
@click.option("--token-file", default="", metavar="FILE", help="Send the bearer token in this file (mode 0600).")
@click.option("--interval", default="2", show_default=True, metavar="SECONDS", help="Time between two readings.")
@click.option("--sort", type=click.Choice(list(SORTS)), default="rate", show_default=True, help="Order of the rows.")
@click.option("--once", is_flag=True, help="Print the measures once, and exit.")
@command_options.JSON_OPTION
def command(output: str, **given: Any) -> None:
    """Show the calls, times, workers and memory of the server at ADDRESS (PORT, HOST:PORT or URL).

    It has to be served with --metrics.  Keys: q quits; r, n, c, e, t order by rate, name, calls, errors, time; space
    pauses.
    """
    try:
        run(TopOptions(**given, is_json=output == "json"))
    except (InvalidOptionError, UnusableAddressError) as problem:
        raise click.UsageError(str(problem)) from None
    except UnreachableError as problem:
        raise UnansweredError(str(problem)) from None
