"""A project to a finished build, from the cache if nothing changed; and a build to a file that was tried first."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from mcpc import cache, pipeline
from mcpc.cli import report
from mcpc.smoke import SmokeError, smoke
from mcpc.sources import SourceTree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpc.cache import Build
    from mcpc.options import Options
    from mcpc.sources import Source

OF_THIS_DAY = frozenset({"MCP241"})
"""What may be otherwise at the next build although the project is the same: it has to be asked again."""


def make(project: Path, options: Options, output: str, place: Path | None = None) -> Build:
    """Return the build of a project, its problems reported; leave with status 1 if it cannot be built.

    `place`: where the build will be written.
    """
    build, files = found_or_made(project, options, output, place)
    report.report(report.worth_telling(build.diagnostics, output), files, output, project)
    return build


def found_or_made(
    project: Path, options: Options, output: str, place: Path | None, quiet: bool = False
) -> tuple[Build, Mapping[str, Source]]:
    """Return the build of a project and the project's files; if it cannot be built, report why and leave."""
    with report.progress(quiet) as tell:
        tree, found = pipeline.read(report.project_folder(project))
        if place is not None:
            tree = without_earlier(tree, project, place)
        name = cache.key(tree, found, options)
        build = cache.load(name)
        if build is not None:
            return build, tree.files
        analysed = pipeline.analyse(tree, found, options, tell)
        if analysed.checked is not None:
            report.refuse_unimported(options, analysed.diagnostics)
        if analysed.checked is None:
            report.report(analysed.diagnostics, tree.files, output, project)
            raise click.exceptions.Exit(report.FINDINGS)
        build = finished(analysed, options, tell)
    if not any(problem.code in OF_THIS_DAY for problem in build.diagnostics):
        cache.store(name, build)
    return build, tree.files


def analyse(given: dict[str, Any]) -> tuple[pipeline.Checked, Options]:
    """Return what is known of the project that a command was given, and the options it was given with."""
    project = report.project_folder(given.pop("project"))
    options = report.options_of(given)
    return pipeline.analyse(*pipeline.read(project), options), options


def without_earlier(tree: SourceTree, project: Path, place: Path) -> SourceTree:
    """Return a project without what an earlier build wrote into it; refuse to write over a file of its own."""
    root = Path(os.path.realpath(project))
    path = place.relative_to(root).as_posix() if place.is_relative_to(root) else ""
    earlier = tree.get(path)
    if earlier is None:
        return tree
    if not zipfile.is_zipfile(io.BytesIO(earlier.data)):
        raise click.UsageError(f"{place} is a file of the project; expected another name for the built file")
    kept = {name: source for name, source in tree.files.items() if name != path}
    return SourceTree(MappingProxyType(kept), tree.name, tree.root)


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
        resources=len(server.readable),
        diagnostics=analysed.diagnostics,
    )


def destination(target: Path) -> Path:
    """Return where a file of this name is to be written: where symlinks lead, and never in the place of a device."""
    place = Path(os.path.realpath(target))
    if place.exists() and not place.is_file():
        kind = "a folder" if place.is_dir() else "no file"
        raise click.UsageError(f"{target} is {kind}; expected the name of a file to write")
    above = next(folder for folder in place.parents if folder.exists())
    if not above.is_dir():
        raise click.UsageError(f"cannot write {target}: {above} is not a folder")
    return place


def write(build: Build, target: Path, *, tried: bool = True) -> None:
    """Write the artifact: whole, executable and seen to answer, or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # What a kill leaves behind has an ending by which no project takes it for a file of its own.
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".mcpc-", suffix=".pyz")
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
        click.echo(f"Error: the built file does not serve: {problem}", err=True)
        raise click.exceptions.Exit(report.UNREACHABLE) from None
    except OSError as problem:
        raise click.UsageError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def umask() -> int:
    """Return the process's file mode creation mask."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
