"""`mcpc build --verify`: a build is written only if a second one, in another environment, has the same bytes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcpc.cli import messages, report
from mcpc.cli.windows_program import as_windows_program
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.trust.comparison import compare_contents
from mcpc.release.trust.contents import take_apart
from mcpc.release.trust.second_build import BuildRequest, SecondBuildError, build_elsewhere

if TYPE_CHECKING:
    from mcpc.interpreters.selfcontained import EmbeddingRequest
    from mcpc.options import Options
    from mcpc.pack.cache import CachedBuild

SHOWN = 20
"""Entries that are named."""


@dataclass(frozen=True, slots=True)
class BuildParameters:
    """What `mcpc build` was asked for: a project, options, where to write, and what the archive becomes a part of."""

    project: Path
    options: Options
    place: Path
    embedding: EmbeddingRequest | None = None
    is_program: bool = False

    def request(self) -> BuildRequest:
        """Return it as the request of a second build."""
        root = Path(os.path.realpath(self.project))
        left_out = self.place.relative_to(root).as_posix() if self.place.is_relative_to(root) else ""
        request = BuildRequest(str(root), "", self.options, left_out=left_out)
        if self.embedding is None:
            return request
        interpreter = self.embedding.interpreter
        place = "" if interpreter is None else os.path.realpath(interpreter)
        return replace(request, embedded=self.embedding.target, interpreter=place, minimal=self.embedding.minimal)

    def built(self, build: CachedBuild) -> bytes:
        """Return the file of a second build; `build`: the first one."""
        data = build_elsewhere(self.request())
        return as_windows_program(replace(build, data=data), self.options).data if self.is_program else data


def require_repeatable(build: CachedBuild, asked: BuildParameters, *, is_required: bool, quiet: bool) -> None:
    """Build again in another environment; exit with 6 if the bytes differ, naming the entries that differ."""
    if not is_required:
        return
    with report.progress_reporter(quiet) as tell:
        tell("building again in another environment")
        try:
            second = asked.built(build)
        except SecondBuildError as problem:
            click.echo(messages.SECOND_BUILD_FAILED.format(problem=visible(str(problem))), err=True)
            raise click.exceptions.Exit(report.WRONG_FILE) from None
    if second == build.data:
        return
    differences = compare_contents(take_apart(build.data), take_apart(second))
    click.echo(messages.NOT_REPEATABLE.format(project=asked.project), err=True)
    for difference in differences[:SHOWN]:
        click.echo(f"  {difference.kind:<11}{visible(difference.entry)}", err=True)
    if len(differences) > SHOWN:
        click.echo(f"  and {len(differences) - SHOWN} more", err=True)
    raise click.exceptions.Exit(report.WRONG_FILE)
