"""`mcpc release`."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mcpc.cli import command_options, messages, report
from mcpc.cli.attest import read_commit
from mcpc.cli.build_steps import refuse_unwritable
from mcpc.cli.carrier_files import read_built_server, report_unusable, server_for_clients, write_files
from mcpc.cli.diff import project_policy
from mcpc.cli.server_targets import read_target
from mcpc.diagnostics import has_errors
from mcpc.pack.archive import checksum_line
from mcpc.pipeline import read_project
from mcpc.release.carriers.built_server import EXECUTABLE, PLAIN, CarrierFile, text_file
from mcpc.release.comparison import compare
from mcpc.release.comparison.reports import as_changelog, version_line
from mcpc.release.releasing import ReleaseInput, read_plan, release_files, self_contained_file
from mcpc.release.trust.signing import signatures, signing_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.release.carriers import BuiltServer
    from mcpc.release.comparison.rules import Comparison
    from mcpc.release.releasing import ReleasePlan

SUMS, IGNORED, NOTES = "SHA256SUMS", ".gitignore", "RELEASE_NOTES.md"
PYPROJECT = "pyproject.toml"


@command_options.command()
@command_options.PROJECT_ARGUMENT
@click.option(
    "--dist",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("dist"),
    show_default=True,
    help="Folder to write; an earlier release in it is replaced.",
)
@click.option(
    "--since",
    type=click.Path(exists=True),
    metavar="FILE",
    help="Previous release (a built file or a snapshot): write notes of changes.",
)
@click.option(
    "--sign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="KEY",
    help="Sign what is started with this SSH key; `server.pyz update` accepts newer files that it signed.",
)
@click.option("--source-uri", default="", metavar="URI", help="Where the sources are, git+https://…: add the commit.")
@command_options.build_options
@click.pass_context
def command(
    context: click.Context, /, project: Path, folder: Path, since: str | None, source_uri: str, **given: Any
) -> None:
    """Build everything that PROJECT publishes, with checksums, into a folder.

    `[tool.mcpc.release]` in `pyproject.toml` lists it: the built file, programs, bundles, an SBOM and so on.  The same
    sources make the same bytes, and nothing is written unless everything can be made.
    """
    sign: Path | None = given.pop("sign")
    plan = project_plan(project)
    given = with_declared_options(context, given, plan.options)
    refuse_other_files(folder)
    commit = read_commit(project) if source_uri else ""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as scratch, report_unusable():
        key = None if sign is None else signing_key(sign)
        if key is not None and not given["update_key"]:
            given = {**given, "update_key": key.public}
        server = server_for_clients(project, given, Path(scratch) / BUILT)
        programs = [(target, program_of(server, target, Path(scratch))) for target in plan.self_contained]
        release = ReleaseInput(server, tuple(programs), commit=commit, source=source_uri)
        files = release_files(release, plan.files)
        files += () if key is None else signatures(files, key)
        changes = None if since is None else changes_since(since, Path(scratch) / BUILT, project)
        if changes is not None:
            files = (*files, text_file(NOTES, as_changelog(changes, "")))
    write_release(folder, files)
    print_release(server, folder, files)
    if changes is not None and changes.fits is False:
        click.echo(f"note: {version_line(changes)}", err=True)


BUILT = "server.pyz"


def project_plan(project: Path) -> ReleasePlan:
    """Return what a project releases; report what is wrong with it, and exit."""
    tree, _ = read_project(project)
    plan, problems = read_plan(tree.get(PYPROJECT))
    report.report(problems, tree.files, "text", project)
    if has_errors(problems):
        raise click.exceptions.Exit(report.FINDINGS)
    return plan


def with_declared_options(context: click.Context, given: dict[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """Return the options of the build: those of the command line, else those that the project declares."""

    @command_options.command()
    @command_options.build_options
    def declared(**_: Any) -> None:
        """Parse the options of a build."""

    try:
        known = declared.make_context(PYPROJECT, list(words))
    except click.UsageError as problem:
        raise click.UsageError(messages.DECLARED_OPTIONS.format(problem=problem.format_message())) from None
    written = {name for name in known.params if known.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    own = {name for name in given if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    return {**given, **{name: known.params[name] for name in written - own}}


def program_of(server: BuiltServer, target: str, scratch: Path) -> BuiltServer:
    """Return the self-contained file of a server for a target."""
    path = scratch / target
    path.write_bytes(self_contained_file(server, target))
    return read_built_server(path)


def changes_since(since: str, built: Path, project: Path) -> Comparison:
    """Return what has changed since an earlier release, by the policy of the project."""
    before, after = (read_target(each, {}, {}, 0) for each in (since, str(built)))
    return compare(before, after, project_policy(None, (str(project),)))


def refuse_other_files(folder: Path) -> None:
    """Refuse a folder with files that no release has written: they would be lost."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    # Each release has this file, and `write_release` replaces the whole folder.
    if names and SUMS not in names:
        raise click.UsageError(messages.NOT_A_RELEASE.format(path=folder, name=sorted(names)[0]))


def write_release(folder: Path, files: Iterable[CarrierFile]) -> None:
    """Write the files and their checksums to a new folder, which then takes the place of an earlier one."""
    files = tuple(files)
    lines = (checksum_line(file.path, hashlib.sha256(file.data).hexdigest()) for file in sorted(files))
    sums = text_file(SUMS, "".join(f"{line}\n" for line in lines))
    ignored = CarrierFile(IGNORED, PLAIN, b"*\n")  # so that neither git nor a build takes the release for sources
    with refuse_unwritable(folder):
        place = Path(os.path.realpath(folder))
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".mcpc-", dir=place.parent) as scratch:
            made, earlier = Path(scratch) / "new", Path(scratch) / "old"
            write_files(made, (*files, sums, ignored))
            if place.exists():
                # A rename cannot replace a folder with files, so the earlier one makes room first.
                place.rename(earlier)
            try:
                made.rename(place)
            except OSError:
                if earlier.exists():
                    earlier.rename(place)
                raise
            shutil.rmtree(earlier, ignore_errors=True)


def print_release(server: BuiltServer, folder: Path, files: Iterable[CarrierFile]) -> None:
    """Print what was released: each file with its size, and how to check it."""
    click.echo(f"{server.name} {server.version}")
    for file in sorted(files):
        kind = ", executable" if file.mode == EXECUTABLE else ""
        click.echo(f"  {file.path:<44} {len(file.data):>12,} bytes{kind}")
    click.echo(f"  {(folder / SUMS).as_posix()}: check it with `sha256sum -c {SUMS}` in that folder")
