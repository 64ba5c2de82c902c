"""`mcpc provenance`: an unsigned statement about how a file was built."""

from __future__ import annotations

from pathlib import Path

import click

from mcpc.cli import command_options
from mcpc.cli.evidence import read_artifact, read_commit, write_evidence
from mcpc.release.trust.provenance import provenance_statement


@command_options.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="Write to this file.")
@click.option(
    "--project", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Add the commit of this folder."
)
@click.option("--source-uri", default="", metavar="URI", help="Where the sources are: git+https://…; with --project.")
@click.option("--predicate", is_flag=True, help="Print the predicate alone, as signers take it.")
def command(file: Path, target: Path | None, project: Path | None, source_uri: str, predicate: bool) -> None:
    """Print an in-toto statement with an SLSA predicate about FILE.

    It is not signed: docs/trust.md shows how to sign it.
    """
    statement = provenance_statement(read_artifact(file), file.name, read_commit(project), source_uri)
    found = statement["predicate"] if predicate else statement
    write_evidence(found if isinstance(found, dict) else {}, target)
