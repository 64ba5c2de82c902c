"""`mcpc show`."""

from __future__ import annotations

import json
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.making import analyse
from mcpc.diagnostics.formats import FORMATS
from mcpc.ir.printer import show


@click.command()
@report.PROJECT
@report.build_options
@report.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Show how PROJECT was understood: every definition, and the function it is bound to."""
    analysed, options = analyse(given)
    understood = "" if analysed.server is None else show(analysed.server)
    if output == "json":
        facts = json.loads(FORMATS[output](analysed.diagnostics, analysed.sources))
        click.echo(json.dumps({"server": understood.splitlines(), **facts}, indent=2, ensure_ascii=False))
    else:
        report.report(report.worth_telling(analysed.diagnostics, output), analysed.sources, output)
        click.echo(understood if output == "text" else "", nl=False)
    report.end_if_refused(analysed.diagnostics, options)
