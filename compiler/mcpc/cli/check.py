"""`mcpc check`."""

from __future__ import annotations

from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.making import analyse
from mcpc.diagnostics.formats.visible import visible


@report.command()
@report.PROJECT
@report.build_options
@report.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Find every problem of PROJECT (a folder; this one by default), and build nothing."""
    project = given["project"]
    analysed, options = analyse(given)
    report.report(analysed.diagnostics, analysed.sources, output, project)
    report.end_if_refused(analysed.diagnostics, options)
    if output == "text" and analysed.server is not None:
        server = analysed.server
        offers = report.offered(len(server.tools), len(server.prompts), len(server.readable))
        click.echo(f"{visible(server.name)} {visible(server.version)}: {offers}", err=True)
