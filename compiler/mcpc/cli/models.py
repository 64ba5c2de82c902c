"""`mcpc models`.

Only definitions and schemas matter here: handlers may be missing or wrong, as they are before there is a file of models
that they can import.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc import pipeline
from mcpc.cli import report
from mcpc.cli.making import destination, umask
from mcpc.diagnostics import diagnose, has_errors, in_order
from mcpc.frontends import understand
from mcpc.languages import MODELS_LINE
from mcpc.lower import lower
from mcpc.models import every_tool, made, whole_module
from mcpc.passes.names import names
from mcpc.passes.schemas import schemas

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Server
    from mcpc.models import Model
    from mcpc.options import Options
    from mcpc.sources import SourceTree

STANDARD_OUTPUT = "-"
FAMILIES = ("MCP0", "MCP1")
HANDLERS_MISSING, UNIMPORTED = "MCP004", "MCP716"


@report.command()
@report.PROJECT
@click.option("-o", "--output", "target", default=STANDARD_OUTPUT, show_default=True, help="The file to write.")
@report.build_options
@report.FORMAT_OPTION
def command(target: str, output: str, **given: Any) -> None:
    """Write the types of the tools of PROJECT (a folder; this one by default) as pydantic classes.

    A handler that names one as the type of its parameter is given its arguments in it; editors, type checkers and
    typed clients use the file itself.
    """
    place = None if target == STANDARD_OUTPUT else earlier(destination(Path(target)))
    project = report.project_folder(given.pop("project"))
    tree, found = pipeline.read(project)
    options = report.options_of(given)
    server, found = understood(tree, found, options)
    report.refuse_unimported(options, found)
    classes = made(server, every_tool(server)) if server and not has_errors(found) else ()
    found = in_order((*found, *map(missing, filter(lambda model: model.problem, classes))))
    report.report(report.worth_telling(found, output), tree.files, output, project)
    report.end_if_refused(found, options)
    text = whole_module(classes)
    if place is None:
        click.echo(text, nl=False)
    else:
        write(text, place)


def understood(tree: SourceTree, found: Diagnostics, options: Options) -> tuple[Server | None, Diagnostics]:
    """Return the server of a project, and what is wrong with its definitions and their schemas."""
    definition, problems = understand(tree, options)
    server, more = lower(definition, options) if definition else (None, ())
    asked = (*names(server), *schemas(server)) if server else ()
    return server, tuple(one for one in (*found, *problems, *more, *asked) if matters(one, server))


def matters(problem: Diagnostic, server: Server | None) -> bool:
    """Say whether a problem is one of definitions."""
    return problem.code.startswith((*FAMILIES, UNIMPORTED)) and not (server and problem.code == HANDLERS_MISSING)


def missing(model: Model) -> Diagnostic:
    """Return the problem of a schema without a model."""
    message = f"no model can be made of this schema of `{model.wanted.tool}`: {model.problem}"
    return diagnose("MCP213", model.wanted.schema.node.span, message, "", f"`{model.wanted.root}` takes every object")


def earlier(place: Path) -> Path:
    """Return where to write, which is not in the place of a file that holds something else."""
    if place.exists() and place.read_bytes().lstrip() and not place.read_bytes().startswith(MODELS_LINE.encode()):
        raise click.UsageError(f"{place} was not written by `mcpc models`; expected another name")
    return place


def write(text: str, place: Path) -> None:
    """Write a file whole or not at all."""
    try:
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=".mcpc-", suffix=".py")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(name).chmod(0o666 & ~umask())
            Path(name).replace(place)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as problem:
        raise click.UsageError(f"cannot write {place}: {problem.strerror}") from None
