"""What commands about a built file share: reading it strictly, the commit of a project, and writing JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mcpc.cli import messages
from mcpc.cli.artifact import require_artifact
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.pack.manifest import readable_json
from mcpc.release.trust.contents import UnreadableArtifactError, take_apart
from mcpc.release.trust.statements import NoCommitError, commit_of

if TYPE_CHECKING:
    from pathlib import Path

    from mcpc.reading import Json
    from mcpc.release.trust.contents import ArtifactContents

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
