"""`mcpc check`."""

from __future__ import annotations

from typing import Any

import click

from mcpc import pipeline
from mcpc.cli import report


@click.command()
@report.PROJECT
@report.build_options
@report.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Find every problem of PROJECT (a folder; this one by default), and build nothing."""
    project = report.project_folder(given.pop("project"))
    options = report.options_of(given)
    tree, found = pipeline.read(project)
    analysed = pipeline.analyse(tree, found, options)
    report.report(analysed.diagnostics, tree.files, output)
    report.end_if_refused(analysed.diagnostics, options)
    if output == "text" and analysed.server is not None:
        server = analysed.server
        offers = f"{len(server.tools)} tools, {len(server.prompts)} prompts"
        click.echo(f"{server.name} {server.version}: {offers}", err=True)
