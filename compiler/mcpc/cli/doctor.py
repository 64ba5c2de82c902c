"""`mcpc doctor`: what is wrong on this machine, and what to do about it."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options
from mcpc.cli.report import FINDINGS, progress_reporter
from mcpc.diagnostics.formats.visible import visible_json
from mcpc.workbench.doctor.checks import examine
from mcpc.workbench.doctor.report import Examination, Level, as_json, summary, text_lines
from mcpc_runtime.tools.clients.table import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.workbench.doctor.report import Symptom

WIDTH = 80


@click.command()
@command_options.TARGET_ARGUMENT
@click.option(
    "--client", "clients", multiple=True, type=click.Choice(list(CLIENTS)), metavar="NAME", help="Only this client."
)
@click.option("--no-start", "starts", flag_value=False, default=True, help="Start no server of a client.")
@click.option("--trust-project", "trusts_project", is_flag=True, help="Start servers of the project's files, too.")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a server of a client may take to answer.",
)
@click.option("--quiet", is_flag=True, help="Print problems only.")
@command_options.JSON_OPTION
def command(quiet: bool, output: str, **given: Any) -> None:
    """Look for what is wrong here: Pythons, programs, caches, clients and their servers.

    TARGET is a project (this folder by default), whose own client files are read, too, or a built file.  The servers in
    clients' files are started as the client would, asked for their tools, and ended; those in files of the project are
    only started with --trust-project.  Nothing is changed or sent.
    """
    with progress_reporter(quiet=quiet or output == "json") as tell:
        symptoms = [*examine(Examination(**given), tell)]
    if output == "json":
        click.echo(visible_json(as_json(symptoms)))
    else:
        put_text([symptom for symptom in symptoms if not quiet or symptom.level is Level.PROBLEM], symptoms)
    if any(symptom.level is Level.PROBLEM for symptom in symptoms):
        raise click.exceptions.Exit(FINDINGS)


def put_text(shown: Sequence[Symptom], symptoms: Sequence[Symptom]) -> None:
    """Print a report."""
    width = shutil.get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
    has_colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for symptom in shown:
        for line in text_lines(symptom, width, has_colours=has_colours):
            click.echo(line)
    click.echo(summary(symptoms))
