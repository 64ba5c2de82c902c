"""`mcpc attest sbom` and `provenance`: statements about a built file, for signers and for those who check it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.evidence import read_artifact, read_commit, write_evidence
from mcpc.release.trust.statements import outer_bill, provenance_statement

if TYPE_CHECKING:
    from collections.abc import Callable

EPOCH = "SOURCE_DATE_EPOCH"
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
