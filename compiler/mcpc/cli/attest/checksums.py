"""`mcpc attest checksums`: write or check a list in the format of `sha256sum`."""

from __future__ import annotations

from pathlib import Path

import click

from mcpc.cli import command_options, messages, report
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.diagnostics.formats.visible import visible, visible_json
from mcpc.release.trust.statements import RIGHT, ChecksumError, check_checksums, write_checksums

READABLE = 0o644


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
def command(files: tuple[Path, ...], target: Path | None, sums: Path | None, output: str) -> None:
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
