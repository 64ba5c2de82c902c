"""Commands below `mcpc generate`: code and documentation made of a server's definitions.

Only definitions and schemas matter here: handlers may still be missing or wrong, because they may import the module
that this command writes.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc import pipeline
from mcpc.cli import command_options, messages, report
from mcpc.cli.artifact import built_artifact
from mcpc.cli.attest import licence_line, licence_rows, read_artifact
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.cli.built_contents import artifact_contents
from mcpc.cli.server_targets import (
    THIS_FOLDER,
    CommandWithServer,
    connection_options,
    read_server_target,
    server_command,
)
from mcpc.client.http import is_address
from mcpc.diagnostics import diagnose, has_errors, in_order
from mcpc.frontends import parse_project
from mcpc.languages import MODELS_LINE
from mcpc.lower import lower
from mcpc.passes.names import check_names
from mcpc.passes.schemas import check_schemas
from mcpc.release.trust.statements import inner_bill
from mcpc.schema.models import all_tools_module, build_models, tool_names
from mcpc.workbench.documentation import FORMATS, page_of
from mcpc.workbench.stubs import MARK, client_types, python_client
from mcpc.workbench.testing.case_files import FOLDER, case_sources, read_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.reading import SourceTree
    from mcpc.schema.models import Model
    from mcpc.workbench.documentation.page import Cases
    from mcpc.workbench.testing.model import Case

STANDARD_OUTPUT = "-"
FAMILIES = ("MCP0", "MCP1")
HANDLERS_MISSING, UNIMPORTED = "MCP004", "MCP716"


@command_options.command()
@command_options.PROJECT_ARGUMENT
@click.option("-o", "--output", "target", default=STANDARD_OUTPUT, show_default=True, help="File to write.")
@command_options.build_options
@command_options.FORMAT_OPTION
def models(target: str, output: str, **given: Any) -> None:
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
        # As any new file of a person: the mask takes away the rest.
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
    # An empty file is overwritten, too: `touch` and an editor make such.
    if place.exists() and place.read_bytes().lstrip() and not place.read_bytes().startswith(MODELS_LINE.encode()):
        raise click.UsageError(messages.NOT_MODELS.format(path=place))
    return place


@click.command(cls=CommandWithServer)
@click.argument("target", default=THIS_FOLDER)
@click.option(
    "-o", "--output", "place", default=STANDARD_OUTPUT, metavar="FILE", help="File to write (default: print)."
)
@connection_options
@command_options.build_options
def client(target: str, place: str, **given: Any) -> None:
    """Write a typed client in Python for the tools of TARGET: a class with a method for each tool.

    TARGET is a project's folder (this one by default), a built file, a snapshot, the address of a server, or a command
    after `--`. The client is one file without dependencies; it calls tools through a client of the official SDKs.
    """
    path = None if place == STANDARD_OUTPUT else own_file(output_path(Path(place)))
    text = python_client(client_types(read_server_target(target, given)))
    if path is None:
        click.echo(text, nl=False)
        return
    with atomic_write(path, text.encode(), 0o666):
        pass


def own_file(place: Path) -> Path:
    """Return the path to write to; refuse to overwrite a file that contains something else."""
    if place.exists() and place.read_bytes().strip() and not place.read_bytes().startswith(MARK.encode()):
        raise click.UsageError(messages.NOT_STUBS.format(path=place))
    return place


MARKDOWN = (".md", ".markdown")


@click.command(cls=CommandWithServer)
@click.argument("target", default=THIS_FOLDER)
@click.option(
    "-o", "--output", "place", default=STANDARD_OUTPUT, metavar="FILE", help="File to write (default: print)."
)
@click.option(
    "--format",
    "output",
    type=click.Choice(list(FORMATS)),
    help="Format (default: markdown for a FILE that ends in .md, else html).",
)
@connection_options
@command_options.build_options
def docs(target: str, place: str, output: str | None, **given: Any) -> None:
    """Write the documentation of TARGET for its users, as one file: tools, prompts, resources, settings, clients.

    TARGET is a project's folder (this one by default), a built file, a snapshot, the address of a server, or a command
    after `--`. The HTML loads nothing from anywhere. The examples of a project are those of its schemas and of its
    test cases in `tests/`.
    """
    path = None if place == STANDARD_OUTPUT else output_path(Path(place))
    chosen = output or ("markdown" if place.endswith(MARKDOWN) else "html")
    facts, about = facts_of(target, given)
    cases = cases_of(Path(target)) if Path(target).is_dir() else {}
    # Texts of JSON may have lone surrogates (`"\ud800"`), for which UTF-8 has no bytes.
    text = FORMATS[chosen](page_of(facts, cases, about)).encode("utf-8", "backslashreplace")
    if path is None:
        click.echo(text, nl=False)
        return
    with atomic_write(path, text, 0o666):
        pass


def cases_of(project: Path) -> Cases:
    """Return the calls of a project's test cases that succeed, by tool; files with mistakes are ignored here."""
    sources, _ = case_sources(project / FOLDER)
    found: Cases = {}
    for case in read_cases(sources)[0]:
        if case.kind == "tool" and succeeds(case):
            found.setdefault(case.target, []).append((case.name, dict(case.arguments)))
    return found


def succeeds(case: Case) -> bool:
    """Tell whether a case expects no error."""
    error = case.expect.get("error") if case.expect is not None else None
    return error is None or error.value is False


def facts_of(target: str, given: dict[str, Any]) -> tuple[Mapping[str, Any], list[tuple[str, str]]]:
    """Return what a target offers, and of a built file or a project more about the file."""
    path = Path(target)
    is_file = path.is_dir() or (path.is_file() and zipfile.is_zipfile(path))
    if server_command() is not None or is_address(target) or not is_file:
        return read_server_target(target, given).as_json(), []
    build = {name: value for name, value in given.items() if name not in ("headers", "token_file", "timeout")}
    with built_artifact(path, build) as artifact:
        return artifact_contents(artifact), [*about_file(artifact)]


def about_file(path: Path) -> Iterator[tuple[str, str]]:
    """Yield names and texts about a built file: its size, and the licences of what it contains."""
    yield "Size", f"{path.stat().st_size:,} bytes"
    for row in licence_rows(inner_bill(read_artifact(path))):
        yield "Contains", licence_line(row)
