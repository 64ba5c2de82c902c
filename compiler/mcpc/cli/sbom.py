"""`mcpc sbom`: the bill of materials of a built file, with the digest of the file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from mcpc.cli import command_options, messages
from mcpc.cli.evidence import read_artifact, read_commit, write_evidence
from mcpc.release.trust.bill import outer_bill

EPOCH = "SOURCE_DATE_EPOCH"


@command_options.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="Write to this file.")
@click.option(
    "--project", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Add the commit of this folder."
)
def command(file: Path, target: Path | None, project: Path | None) -> None:
    """Print the SBOM of FILE in CycloneDX 1.6, with the digest of the file.

    It has a time only if SOURCE_DATE_EPOCH is set.
    """
    epoch = os.environ.get(EPOCH, "")
    if epoch and (not epoch.isdecimal() or len(epoch) > 11):
        raise click.UsageError(messages.SECONDS_EXPECTED.format(variable=EPOCH, value=epoch))
    contents = read_artifact(file)
    write_evidence(outer_bill(contents, read_commit(project), epoch), target)
