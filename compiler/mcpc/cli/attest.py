"""Commands below `mcpc attest`: what a built file contains, how it was built, and lists of checksums."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages, report
from mcpc.cli.artifact import built_artifact, require_artifact
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.diagnostics.formats.visible import visible, visible_json
from mcpc.pack.manifest import readable_json
from mcpc.release.trust.contents import UnreadableArtifactError, take_apart
from mcpc.release.trust.statements import (
    RIGHT,
    ChecksumError,
    NoCommitError,
    check_checksums,
    commit_of,
    inner_bill,
    outer_bill,
    provenance_statement,
    write_checksums,
)
from mcpc_runtime.tools.cli.licence_texts import licence_name, licence_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.reading import Json
    from mcpc.release.trust.contents import ArtifactContents


EPOCH = "SOURCE_DATE_EPOCH"
# Eleven digits of seconds reach the year 5138; with twelve a year may have five digits, which RFC 3339 has not.
EPOCH_DIGITS = 11


def statement_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what both commands take."""
    for option in (
        click.option(
            "--project",
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            help="Add the commit of this folder.",
        ),
        click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="Write to this file."),
        click.argument("file", type=click.Path(path_type=Path)),
    ):
        function = option(function)
    return function


@command_options.command()
@statement_options
def sbom(file: Path, target: Path | None, project: Path | None) -> None:
    """Print the SBOM of FILE in CycloneDX 1.6, with the digest of the file.

    It has a time only if SOURCE_DATE_EPOCH is set.
    """
    epoch = os.environ.get(EPOCH, "")
    if epoch and (not epoch.isdecimal() or len(epoch) > EPOCH_DIGITS):
        raise click.UsageError(messages.SECONDS_EXPECTED.format(variable=EPOCH, value=epoch))
    write_evidence(outer_bill(read_artifact(file), read_commit(project), epoch), target)


@command_options.command()
@statement_options
@click.option("--source-uri", default="", metavar="URI", help="Where the sources are: git+https://…; with --project.")
@click.option("--predicate", is_flag=True, help="Print the predicate alone, as signers take it.")
def provenance(file: Path, target: Path | None, project: Path | None, source_uri: str, predicate: bool) -> None:
    """Print an in-toto statement with an SLSA predicate about FILE.

    It is not signed: docs/trust.md shows how to sign it.
    """
    statement = provenance_statement(read_artifact(file), file.name, read_commit(project), source_uri)
    value = statement["predicate"] if predicate else statement
    write_evidence(value if isinstance(value, dict) else {}, target)


UNDECLARED = "no licence is declared"


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option("--texts", is_flag=True, help="Print the texts, too.")
@command_options.build_options
@command_options.JSON_OPTION
def licenses(target: Path, texts: bool, output: str, **given: Any) -> None:
    """Print the licence of everything that TARGET, a project (this one by default) or a built file, contains."""
    with built_artifact(target, given) as path:
        rows = licence_rows(inner_bill(read_artifact(path)))
        found = [*licence_texts(str(path))] if texts else []
    if output == "json":
        named = [{"of": heading, "text": text} for heading, text in found]
        click.echo(visible_json({"components": rows, **({"texts": named} if texts else {})}))
        return
    for row in rows:
        click.echo(visible(licence_line(row)))
    for heading, text in found:
        click.echo(f"\n=== {visible(heading)}\n\n{text.rstrip()}")


def licence_rows(bill: dict[str, Any]) -> list[dict[str, str]]:
    """Return the name, the version and the licence of each component of an SBOM."""
    return [
        {
            "name": str(component.get("name", "")),
            "version": str(component.get("version", "")),
            "licence": " and ".join(map(licence_name, component.get("licenses", ()))),
        }
        for component in bill["components"]
    ]


def licence_line(row: dict[str, str]) -> str:
    """Return the name, the version and the licence of a component in one line."""
    name = " ".join(filter(None, (row["name"], row["version"])))
    return f"{name}: {row['licence'] or UNDECLARED}"


@command_options.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="Write the list to this file.")
@click.option(
    "--check",
    "sums",
    type=click.Path(path_type=Path),
    help="Check the files of this list.",
)
@command_options.JSON_OPTION
def checksums(files: tuple[Path, ...], target: Path | None, sums: Path | None, output: str) -> None:
    """Print the SHA-256 of FILES as `sha256sum` does, or check the files beside such a list."""
    if (sums is None) == (not files):
        raise click.UsageError(messages.FILES_OR_CHECK)
    try:
        if sums is not None:
            check(sums, output)
            return
        text = write_checksums(files)
    except ChecksumError as problem:
        raise click.UsageError(messages.CANNOT_READ.format(path=sums or "the list", problem=problem)) from None
    if target is None:
        click.echo(text.decode(), nl=False)
        return
    # Nothing is tried before the file takes its name.
    with atomic_write(output_path(target), text, READABLE):
        pass


def check(sums: Path, output: str) -> None:
    """Print the status of each file of a list, and exit with 6 unless all are right."""
    found = check_checksums(sums)
    if output == "json":
        click.echo(visible_json([{"name": file.name, "status": file.status} for file in found]))
    else:
        click.echo("\n".join(visible(f"{file.name}: {file.status}") for file in found))
    if any(file.status != RIGHT for file in found):
        raise click.exceptions.Exit(report.WRONG_FILE)


READABLE = 0o644


def read_artifact(path: Path, *, is_exact: bool = True) -> ArtifactContents:
    """Return the contents of a built file; raise a usage error for any other one.

    `is_exact`: refuse a file that is not as a build writes it: what is said of its entries might not be what it runs.
    """
    require_artifact(path)
    try:
        contents = take_apart(path.read_bytes())
    except UnreadableArtifactError as problem:
        raise click.UsageError(messages.CANNOT_READ.format(path=path, problem=problem)) from None
    if is_exact and not contents.is_exact:
        raise click.UsageError(messages.CANNOT_READ.format(path=path, problem=messages.NOT_AS_BUILT))
    return contents


def read_commit(project: Path | None) -> str:
    """Return the commit of a project, if one is named; raise a usage error if it has none."""
    if project is None:
        return ""
    try:
        return commit_of(project)
    except NoCommitError as problem:
        raise click.UsageError(messages.NO_COMMIT.format(path=project, problem=problem)) from None


def write_evidence(value: dict[str, Json], target: Path | None) -> None:
    """Print a value as JSON, or write it to a file."""
    data = readable_json(value)
    if target is None:
        click.echo(data.decode(), nl=False)
        return
    with atomic_write(output_path(target), data, READABLE):
        pass
