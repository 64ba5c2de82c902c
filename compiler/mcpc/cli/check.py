"""`mcpc check`."""

from __future__ import annotations

from typing import Any

import click

from mcpc.cli import command_options, report
from mcpc.cli.build_steps import analyse_arguments
from mcpc.diagnostics.formats.visible import visible
from mcpc.frontends import frontends_of


@command_options.command()
@command_options.PROJECT_ARGUMENT
@command_options.build_options
@command_options.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Check PROJECT (a folder; this one by default) without building it."""
    project = given["project"]
    analysed, options = analyse_arguments({**given, "every_python": True})
    report.report(report.decisive(analysed.diagnostics, options), analysed.sources, output, project)
    report.exit_if_refused(analysed.diagnostics, options)
    if output == "text" and analysed.server is not None:
        server = analysed.server
        offers = report.count_definitions(len(server.tools), len(server.prompts), len(server.readable))
        click.echo(f"{visible(server.name)} {visible(server.version)}: {offers}", err=True)
        for frontend in frontends_of(server.format):
            for line in frontend.summary(server, analysed.diagnostics):
                click.echo(f"  {visible(line)}", err=True)
        click.echo(report.runs_on(server.runs_on), err=True)
