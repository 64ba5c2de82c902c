"""`mcpc new`."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.fitting_python import use_fitting_python
from mcpc.diagnostics.formats.visible import visible
from mcpc.reading.tree import template_folder
from mcpc.sandbox.platforms import quoted_word, start_of_file

if TYPE_CHECKING:
    from collections.abc import Iterable

TEMPLATES = ("bash", "functions", "python")
"""Bash functions with JSON; decorated Python functions; Python functions with JSON."""
OPENAPI = "openapi"
"""The template that an API document fills."""
TEMPLATE_SERVER_NAME = "my-server"
"""The server name in every template; replaced by the folder's name if that is a plain name."""
NEXT = """next: mcpc build {project} -o server.pyz
      {call} call greet name=Ada
      mcpc test {project}"""
NEXT_OF_DOCUMENT = """next: mcpc check {project}
      mcpc build {project} -o server.pyz"""
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@command_options.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.argument("document", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option(
    "--template",
    type=click.Choice((*TEMPLATES, OPENAPI)),
    default="functions",
    show_default=True,
    help="Style of the project.",
)
@click.option(
    "--import",
    "source",
    type=command_options.PROJECT,
    callback=use_fitting_python,
    metavar="FOLDER",
    help="Convert this project, of any format, to the native format.",
)
@click.option(
    "--from-scripts",
    "scripts",
    type=command_options.PROJECT,
    metavar="DIR",
    help="Write a tool for each script in this folder, from its options, to be edited.",
)
@command_options.build_options
@command_options.FORMAT_OPTION
def command(
    project: Path, document: Path | None, template: str, source: Path | None, output: str, **given: Any
) -> None:
    """Create a project in the folder PROJECT: a working server with a tool and a prompt, its tests and a README.

    With --template openapi, it is a server of the API document DOCUMENT, and a file that says what of it is offered.

    With --import, the new project builds to a server with the same tools, prompts and resources as the other one, which
    is not changed; IMPORT.md lists how each definition was converted.
    """
    scripts: Path | None = given.pop("scripts")
    if source is not None or scripts is not None:
        from_existing(project, source, scripts, output, given)
        return
    if any(value not in (None, "", ()) for value in given.values()):
        raise click.UsageError(messages.IMPORT_EXPECTED)
    if project.exists() and (not project.is_dir() or any(project.iterdir())):
        raise click.UsageError(messages.ALREADY_EXISTS.format(path=project))
    if (document is not None) != (template == OPENAPI):
        raise click.UsageError(messages.DOCUMENT_EXPECTED)
    name = project.resolve().name
    files = template_files(template, name) if document is None else document_files(document, name)
    try:
        for path, data in files.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_bytes(data)
    except OSError as problem:
        remove_files(project, files)
        raise click.UsageError(
            messages.CANNOT_WRITE.format(path=project, problem=problem.strerror or problem)
        ) from None
    for path in files:
        click.echo(visible(str(project / path)), err=True)
    commands = (NEXT if document is None else NEXT_OF_DOCUMENT).format(
        project=quoted_word(str(project)), call=start_of_file("server.pyz")
    )
    click.echo("\n".join(map(visible, f"\n{commands}".split("\n"))), err=True)


def from_existing(project: Path, source: Path | None, scripts: Path | None, output: str, given: dict[str, Any]) -> None:
    """Write a project from another one, or from a folder of scripts; the stages are only imported for that."""
    if source is not None:
        from mcpc.cli.converting import convert  # noqa: PLC0415

        convert(source, project, output, given)
    elif scripts is not None:
        from mcpc.cli.from_scripts import write_tools  # noqa: PLC0415

        write_tools(scripts, project, output, given)


def template_files(template: str, name: str) -> dict[str, bytes]:
    """Return the files of a new project by path, sorted; `name`: the project's, which the server gets if it can."""
    folder = template_folder() / "new" / template
    # An installer may have compiled the templates' modules.
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): rename_server(name, path.read_bytes()) for path in paths}


def document_files(document: Path, name: str) -> dict[str, bytes]:
    """Return the files of a new project of an API document."""
    from mcpc.frontends.openapi.beginning import new_project  # noqa: PLC0415 - only for such a project
    from mcpc.reading import Source  # noqa: PLC0415 - as above

    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "api"
    files = new_project(Source(document.name, document.read_bytes()), plain)
    if files is None:
        raise click.UsageError(messages.NO_DOCUMENT.format(path=document))
    return files


def remove_files(project: Path, files: Iterable[str]) -> None:
    """Remove what was written, with its folders: the next attempt needs an empty project."""
    for path in files:
        with suppress(OSError):
            (project / path).unlink()
    for path in files:
        if "/" in path:
            with suppress(OSError):
                # Removes an empty folder only: files of others stay.
                (project / path).parent.rmdir()


def rename_server(name: str, data: bytes) -> bytes:
    """Return a template file with the server's name replaced by `name`."""
    return data.replace(TEMPLATE_SERVER_NAME.encode(), name.encode()) if PLAIN_NAME.fullmatch(name) else data
