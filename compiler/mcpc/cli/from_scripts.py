"""`mcpc new FOLDER --from-scripts DIR`: each script of a folder becomes a tool whose arguments are its options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from mcpc import pipeline
from mcpc.cli import command_options, messages, report
from mcpc.cli.converting import check_target, write_project
from mcpc.diagnostics.formats.visible import visible
from mcpc.sandbox.platforms import quoted_word
from mcpc.workbench.scripts import script_project

if TYPE_CHECKING:
    from pathlib import Path

    from mcpc.workbench.scripts import ScriptTool


def write_tools(scripts: Path, target: Path, output: str, given: dict[str, Any]) -> None:
    """Write a project with the scripts and a tool for each, and say from what its arguments were read."""
    options = command_options.read_options(given)
    check_target(target, scripts)
    tree, problems = pipeline.read_project(scripts)
    project, tools, unfit = script_project(tree, target.resolve().name, runs=options.imports)
    if not tools:
        raise click.UsageError(messages.NO_SCRIPTS.format(path=scripts))
    # The new project is of the native format, whatever was asked for its scripts.
    analysed = pipeline.analyse(project, problems, replace(options, format="", kb=""))
    report.report(report.notable_diagnostics(analysed.diagnostics, output), analysed.sources, output, target)
    if analysed.checked is None:
        raise click.exceptions.Exit(report.FINDINGS)
    write_project(project.files, target)
    if output == "text":
        for line in (*map(summary, tools), *(messages.NOT_RUN.format(path=path) for path in unfit)):
            click.echo(visible(line), err=True)
        place = quoted_word(str(target))
        click.echo(visible(messages.NEXT_AFTER_SCRIPTS.format(path=target / "tools.json", project=place)), err=True)


def summary(tool: ScriptTool) -> str:
    """Return how a script became a tool, as a line."""
    names = ", ".join(tool.arguments)
    text = messages.READ_SCRIPT if tool.read_from else messages.UNREAD_SCRIPT
    return text.format(path=tool.path, name=tool.definition["name"], source=tool.read_from, arguments=names or "none")
