"""`mcpc check`."""

from __future__ import annotations

from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.making import analyse


@click.command()
@report.PROJECT
@report.build_options
@report.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Find every problem of PROJECT (a folder; this one by default), and build nothing."""
    analysed, options = analyse(given)
    report.report(analysed.diagnostics, analysed.sources, output)
    report.end_if_refused(analysed.diagnostics, options)
    if output == "text" and analysed.server is not None:
        server = analysed.server
        offers = f"{len(server.tools)} tools, {len(server.prompts)} prompts"
        click.echo(f"{server.name} {server.version}: {offers}", err=True)
