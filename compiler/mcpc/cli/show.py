"""`mcpc show`."""

from __future__ import annotations

import json
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.making import analyse
from mcpc.diagnostics.formats import located
from mcpc.ir.printer import show


@report.command()
@report.PROJECT
@report.build_options
@report.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Show how PROJECT was understood: every definition, and the function it is bound to."""
    project = given["project"]
    analysed, options = analyse(given)
    understood = "" if analysed.server is None else show(analysed.server)
    if output == "json":
        named = located(analysed.diagnostics, analysed.sources, report.from_here(project))
        facts = json.loads(report.rendered(*named, output))
        click.echo(json.dumps({"server": understood.splitlines(), **facts}, indent=2, ensure_ascii=False))
    else:
        report.report(report.worth_telling(analysed.diagnostics, output), analysed.sources, output, project)
        click.echo(understood if output == "text" else "", nl=False)
    report.end_if_refused(analysed.diagnostics, options)
