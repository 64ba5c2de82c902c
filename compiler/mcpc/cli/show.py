"""`mcpc show`."""

from __future__ import annotations

import json
from typing import Any

import click

from mcpc.cli import command_options, report
from mcpc.cli.build_steps import analyse_arguments
from mcpc.diagnostics.formats import relocate_paths
from mcpc.model.ir.printer import print_server


@command_options.command()
@command_options.PROJECT_ARGUMENT
@command_options.build_options
@command_options.FORMAT_OPTION
def command(output: str, **given: Any) -> None:
    """Show how mcpc reads PROJECT: every definition, and the function it is bound to."""
    project = given["project"]
    analysed, options = analyse_arguments(given)
    understood = "" if analysed.server is None else print_server(analysed.server)
    if output == "json":
        named = relocate_paths(analysed.diagnostics, analysed.sources, report.relative_to_cwd(project))
        facts = json.loads(report.render_machine_format(*named, output))
        click.echo(json.dumps({"server": understood.splitlines(), **facts}, indent=2, ensure_ascii=False))
    else:
        report.report(report.notable_diagnostics(analysed.diagnostics, output), analysed.sources, output, project)
        click.echo(understood if output == "text" else "", nl=False)
    report.exit_if_refused(analysed.diagnostics, options)
