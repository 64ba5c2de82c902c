"""A project to a finished build, from the cache if nothing changed; and a build to a file that was tried first."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcpc import cache, pipeline
from mcpc.cli import report
from mcpc.diagnostics import Severity
from mcpc.smoke import SmokeError, smoke

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.cache import Build
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options

NOTE = Severity.NOTE


def make(project: Path, options: Options, output: str) -> Build:
    """Return the build of a project, its problems reported; leave with status 1 if it cannot be built."""
    with report.progress() as tell:
        tree, found = pipeline.read(report.project_folder(project))
        name = cache.key(tree, found, options)
        build = cache.load(name)
        if build is not None:
            report.report(worth_telling(build.diagnostics, output), tree.files, output)
            return build
        analysed = pipeline.analyse(tree, found, options, tell)
        if analysed.checked is None:
            report.report(analysed.diagnostics, tree.files, output)
            raise click.exceptions.Exit(report.FINDINGS)
        build = finished(analysed, options, tell)
    report.report(worth_telling(build.diagnostics, output), tree.files, output)
    cache.store(name, build)
    return build


def worth_telling(diagnostics: Diagnostics, output: str) -> Diagnostics:
    """Return what a successful build says to a person: notes are for `mcpc check`."""
    return diagnostics if output != "text" else tuple(found for found in diagnostics if found.severity is not NOTE)


def finished(analysed: pipeline.Checked, options: Options, tell: Callable[[str], None]) -> Build:
    """Return the build of a checked project."""
    if analysed.checked is None:
        raise ValueError("a project with errors is not built")
    archive = pipeline.compile_server(analysed.checked, options, tell)
    server = analysed.checked.server
    return cache.Build(
        data=archive.data,
        content_digest=archive.content_digest,
        name=server.name,
        version=server.version,
        tools=len(server.tools),
        prompts=len(server.prompts),
        diagnostics=analysed.diagnostics,
    )


def write(build: Build, target: Path, *, tried: bool = True) -> None:
    """Write the artifact: whole, executable and seen to answer, or not at all."""
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as problem:
        raise click.UsageError(f"cannot write {target}: {problem.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(build.data)
        temporary.chmod(0o755 & ~umask())
        if tried:
            smoke(temporary)
        temporary.replace(target)
    except SmokeError as problem:
        raise click.ClickException(f"the built file does not serve: {problem}") from None
    except OSError as problem:
        raise click.UsageError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def umask() -> int:
    """Return the process's file mode creation mask."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
