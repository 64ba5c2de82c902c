"""Build steps of the commands: from a project to a finished build, using the cache, and to a tested output file."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from mcpc.cli import command_options, messages, report
from mcpc.interpreters.selfcontained import CannotEmbedError, embed_server
from mcpc.options import ANY_SYSTEM, COMMON
from mcpc.pack import cache
from mcpc.pack.prologue import START_BY_PYTHON, SmokeError, smoke
from mcpc.reading import read_tree
from mcpc.reading.selection import PYPROJECT
from mcpc.sandbox.platforms import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from mcpc import pipeline
    from mcpc.interpreters.selfcontained import EmbeddingRequest
    from mcpc.options import Options
    from mcpc.pack.cache import CachedBuild
    from mcpc.reading import Source, SourceTree

UNCACHED_CODES = frozenset({"MCP241", "MCP305"})
"""Diagnostics that may change while the project stays the same: such builds are not cached."""


def build_project(project: Path, options: Options, output: str, place: Path | None = None) -> CachedBuild:
    """Build a project and report its diagnostics; exit with status 1 if it cannot be built.

    `place`: the path to which the build will be written.
    """
    build, files = load_or_build(project, options, output, place)
    report.report(report.notable_diagnostics(build.diagnostics, output), files, output, project)
    return build


def load_or_build(
    project: Path, options: Options, output: str, place: Path | None, quiet: bool = False
) -> tuple[CachedBuild, Mapping[str, Source]]:
    """Return the build of a project and the project's files; on errors, report them and exit."""
    with report.progress_reporter(quiet) as tell:
        tree, problems = read_tree(project)
        options = command_options.with_lock_path(options, project, tree)
        if place is not None:
            tree = without_earlier_output(tree, project, place)
        # By the files alone first: importing the front ends, which know all inputs, takes longer than the rest.
        build = cache.load_known_build(tree, problems, options)
        if build is not None:
            return build, tree.files
        from mcpc import pipeline  # noqa: PLC0415 - a build that is known does without
        from mcpc.frontends.installed_metadata import with_version_files  # noqa: PLC0415

        tree, unknown = with_version_files(tree)
        problems += unknown
        name = cache.cache_key(tree, problems, options)
        build = cache.load_build(name)
        if build is not None:
            cache.store_key(name, tree, problems, options)
            return build, tree.files
        effective = with_declared_platforms(options, tree)
        analysed = pipeline.analyse(tree, problems, effective, tell)
        if analysed.checked is not None:
            report.refuse_unimported(options, analysed.diagnostics)
        if analysed.checked is None:
            report.report(report.decisive(analysed.diagnostics, options), tree.files, output, project)
            raise click.exceptions.Exit(report.refusal_status(analysed.diagnostics, options))
        build = build_checked(analysed, effective, tell)
    if not any(problem.code in UNCACHED_CODES for problem in build.diagnostics):
        cache.store_build(name, build)
        cache.store_key(name, tree, problems, options)
    return build, tree.files


def build_for_usual_machines(project: Path, options: Options) -> CachedBuild:
    """Build a project; one with machine code for the platforms that it names, else for those that clients run on."""
    from mcpc.packages.toml_tables import declared_platforms  # noqa: PLC0415 - as above

    build, files = load_or_build(project, options, "text", None)
    named = options.platforms or declared_platforms(files.get(PYPROJECT))
    if not named and not build.runs_on.endswith(ANY_SYSTEM):
        build, files = load_or_build(project, replace(options, platforms=(COMMON,)), "text", None)
    report.report(report.notable_diagnostics(build.diagnostics, "text"), files, "text", project)
    return build


def with_declared_platforms(options: Options, tree: SourceTree) -> Options:
    """Return options with the platforms that the project names, for a file that is to run elsewhere, too."""
    from mcpc.packages.toml_tables import declared_platforms  # noqa: PLC0415 - as above

    if options.platforms or not options.every_python:
        return options
    return replace(options, platforms=declared_platforms(tree.get(PYPROJECT)))


def analyse_arguments(given: dict[str, Any]) -> tuple[pipeline.CheckResult, Options]:
    """Return the check result for a command's arguments, and the options in effect."""
    from mcpc import pipeline  # noqa: PLC0415 - as above

    project = given.pop("project")
    tree, found = pipeline.read_project(project)
    options = command_options.with_lock_path(command_options.read_options(given), project, tree)
    options = with_declared_platforms(options, tree)
    return pipeline.analyse(tree, found, options), options


def without_earlier_output(tree: SourceTree, project: Path, place: Path) -> SourceTree:
    """Return a source tree without the output of an earlier build; refuse to overwrite a source file."""
    root = Path(os.path.realpath(project))
    path = place.relative_to(root).as_posix() if place.is_relative_to(root) else ""
    earlier = tree.get(path)
    if earlier is None:
        return tree
    # Only an archive can be an earlier output; anything else in this place is somebody's work.
    if not zipfile.is_zipfile(io.BytesIO(earlier.data)):
        raise click.UsageError(messages.FILE_OF_PROJECT.format(path=place))
    kept = {name: source for name, source in tree.files.items() if name != path}
    return replace(tree, files=MappingProxyType(kept))


def build_checked(analysed: pipeline.CheckResult, options: Options, tell: Callable[[str], None]) -> CachedBuild:
    """Return the build of a checked project."""
    from mcpc import pipeline  # noqa: PLC0415 - as above

    if analysed.checked is None:
        raise ValueError("a project with errors is not built")
    archive = pipeline.compile_server(analysed.checked, options, tell)
    server = analysed.checked.server
    return cache.CachedBuild(
        data=archive.data,
        content_digest=archive.content_digest,
        name=server.name,
        version=server.version,
        tools=len(server.tools),
        prompts=len(server.prompts),
        resources=len(server.readable),
        runs_on=server.runs_on,
        diagnostics=analysed.diagnostics,
    )


def embed_build(build: CachedBuild, request: EmbeddingRequest, output: str, quiet: bool) -> CachedBuild:
    """Return a build whose file includes an interpreter; report why that is impossible, and exit."""
    try:
        with report.progress_reporter(quiet) as tell:
            tell("embedding the interpreter")
            return replace(build, data=embed_server(replace(request, archive=build.data)))
    except CannotEmbedError as problem:
        report.report((problem.diagnostic,), {}, output)
        raise click.exceptions.Exit(report.FINDINGS) from None


def output_path(target: Path) -> Path:
    """Return where to write a file of this name: symlinks are followed, devices are refused."""
    place = Path(os.path.realpath(target))
    if place.exists() and not place.is_file():
        kind = "a folder" if place.is_dir() else "not a regular file"
        raise click.UsageError(messages.FILE_EXPECTED.format(path=target, kind=kind))
    above = next(folder for folder in place.parents if folder.exists())
    if not above.is_dir():
        raise click.UsageError(messages.CANNOT_WRITE.format(path=target, problem=f"{above} is not a folder"))
    return place


def write_artifact(
    build: CachedBuild, target: Path, start: tuple[str, ...] = START_BY_PYTHON, *, tried: bool = True
) -> None:
    """Write the artifact atomically: complete, executable, and after its smoke test, in which `start` starts it."""
    try:
        with refuse_unwritable(target):
            target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target, build.data, 0o755) as temporary:
            if tried:
                smoke(temporary, start)
    except SmokeError as problem:
        click.echo(messages.FAILED_TEST_START.format(problem=problem), err=True)
        raise click.exceptions.Exit(report.UNREACHABLE) from None


@contextmanager
def atomic_write(target: Path, data: bytes, mode: int) -> Iterator[Path]:
    """Write a temporary file beside `target`, and let it take its name when the block has ended without an error."""
    with refuse_unwritable(target):
        # A file that remains after a kill has a suffix that projects ignore.
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".mcpc-", suffix=".pyz")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            # `mkstemp` makes a file for its owner alone, and the mask of a process can only be read by setting it.
            mask = os.umask(0o077)
            os.umask(mask)
            Path(name).chmod(mode & ~mask)
            yield Path(name)
            replace_file(Path(name), target)
        finally:
            Path(name).unlink(missing_ok=True)


@contextmanager
def refuse_unwritable(target: Path) -> Iterator[None]:
    """Report a path that cannot be written as wrong usage."""
    try:
        yield
    except OSError as problem:
        raise click.UsageError(messages.CANNOT_WRITE.format(path=target, problem=problem.strerror or problem)) from None
