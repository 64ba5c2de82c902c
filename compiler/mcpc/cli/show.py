"""`mcpc show`."""

from __future__ import annotations

from typing import Any

import click

from mcpc import pipeline
from mcpc.cli import report
from mcpc.ir.printer import show


@click.command()
@report.PROJECT
@report.build_options
@report.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Show how PROJECT was understood: every definition, and the function it is bound to."""
    project = report.project_folder(given.pop("project"))
    options = report.options_of(given)
    tree, found = pipeline.read(project)
    analysed = pipeline.analyse(tree, found, options)
    report.report(report.worth_telling(analysed.diagnostics, output), tree.files, output)
    if analysed.server is not None and output == "text":
        click.echo(show(analysed.server), nl=False)
    report.end_if_refused(analysed.diagnostics, options)
