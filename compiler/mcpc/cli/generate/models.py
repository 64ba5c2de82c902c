"""`mcpc generate models`.

Only definitions and schemas matter here: handlers may still be missing or wrong, because they may import the module
that this command writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc import pipeline
from mcpc.cli import command_options, messages, report
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.diagnostics import diagnose, has_errors, in_order
from mcpc.frontends import parse_project
from mcpc.languages import MODELS_LINE
from mcpc.lower import lower
from mcpc.passes.names import check_names
from mcpc.passes.schemas import check_schemas
from mcpc.schema.models import all_tools_module, build_models, tool_names

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.reading import SourceTree
    from mcpc.schema.models import Model

STANDARD_OUTPUT = "-"
FAMILIES = ("MCP0", "MCP1")
HANDLERS_MISSING, UNIMPORTED = "MCP004", "MCP716"


@command_options.command()
@command_options.PROJECT_ARGUMENT
@click.option("-o", "--output", "target", default=STANDARD_OUTPUT, show_default=True, help="File to write.")
@command_options.build_options
@command_options.FORMAT_OPTION
def command(target: str, output: str, **given: Any) -> None:
    """Write the types of the tools of PROJECT (a folder; this one by default) as pydantic classes.

    A handler whose parameter has such a class as its type receives its arguments as an instance of it.  Editors, type
    checkers and typed clients use the file itself.
    """
    place = None if target == STANDARD_OUTPUT else output_file(output_path(Path(target)))
    project = given.pop("project")
    tree, found = pipeline.read_project(project)
    options = command_options.read_options(given)
    server, found = analyse_definitions(tree, found, options)
    report.refuse_unimported(options, found)
    classes = build_models(server, tool_names(server)) if server and not has_errors(found) else ()
    found = in_order((*found, *map(missing_model, filter(lambda model: model.problem, classes))))
    report.report(report.notable_diagnostics(found, output), tree.files, output, project)
    report.exit_if_refused(found, options)
    text = all_tools_module(classes)
    if place is None:
        click.echo(text, nl=False)
    else:
        with atomic_write(place, text.encode(), 0o666):
            pass


def analyse_definitions(tree: SourceTree, found: Diagnostics, options: Options) -> tuple[Server | None, Diagnostics]:
    """Return the server of a project, and the diagnostics of its definitions and schemas."""
    definition, problems = parse_project(tree, options)
    server, more = lower(definition, options) if definition else (None, ())
    asked = (*check_names(server), *check_schemas(server)) if server else ()
    return server, tuple(item for item in (*found, *problems, *more, *asked) if is_about_definitions(item, server))


def is_about_definitions(problem: Diagnostic, server: Server | None) -> bool:
    """Tell whether a diagnostic is about definitions."""
    return problem.code.startswith((*FAMILIES, UNIMPORTED)) and not (server and problem.code == HANDLERS_MISSING)


def missing_model(model: Model) -> Diagnostic:
    """Return the diagnostic for a schema that has no model."""
    message = f"cannot generate a model for this schema of `{model.wanted.tool}`: {model.problem}"
    return diagnose("MCP213", model.wanted.schema.node.span, message, "", f"`{model.wanted.root}` accepts every object")


def output_file(place: Path) -> Path:
    """Return the path to write to; refuse to overwrite a file that contains something else."""
    if place.exists() and place.read_bytes().lstrip() and not place.read_bytes().startswith(MODELS_LINE.encode()):
        raise click.UsageError(messages.NOT_MODELS.format(path=place))
    return place
