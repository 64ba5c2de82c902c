"""`mcpc show`."""

from __future__ import annotations

from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.making import analyse
from mcpc.ir.printer import show


@click.command()
@report.PROJECT
@report.build_options
@report.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Show how PROJECT was understood: every definition, and the function it is bound to."""
    analysed, options = analyse(given)
    report.report(report.worth_telling(analysed.diagnostics, output), analysed.sources, output)
    if analysed.server is not None and output == "text":
        click.echo(show(analysed.server), nl=False)
    report.end_if_refused(analysed.diagnostics, options)
