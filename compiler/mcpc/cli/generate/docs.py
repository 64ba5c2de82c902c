"""`mcpc generate docs`."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options
from mcpc.cli.artifact import built_artifact
from mcpc.cli.attest.licenses import licence_line, licence_rows
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.cli.built_contents import artifact_contents
from mcpc.cli.evidence import read_artifact
from mcpc.cli.server_targets import (
    THIS_FOLDER,
    CommandWithServer,
    connection_options,
    read_server_target,
    server_command,
)
from mcpc.client.http import is_address
from mcpc.release.trust.statements import inner_bill
from mcpc.workbench.documentation import FORMATS, page_of
from mcpc.workbench.testing.case_files import FOLDER, case_sources, read_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.workbench.documentation.page import Cases
    from mcpc.workbench.testing.model import Case

STANDARD_OUTPUT = "-"
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
def command(target: str, place: str, output: str | None, **given: Any) -> None:
    """Write the documentation of TARGET for its users, as one file: tools, prompts, resources, settings, clients.

    TARGET is a project's folder (this one by default), a built file, a snapshot, the address of a server, or a command
    after `--`. The HTML loads nothing from anywhere. The examples of a project are those of its schemas and of its
    test cases in `tests/`.
    """
    path = None if place == STANDARD_OUTPUT else output_path(Path(place))
    chosen = output or ("markdown" if place.endswith(MARKDOWN) else "html")
    facts, about = facts_of(target, given)
    cases = cases_of(Path(target)) if Path(target).is_dir() else {}
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
