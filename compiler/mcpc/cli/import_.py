"""`mcpc import`."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from mcpc import pipeline
from mcpc.cli import report
from mcpc.diagnostics.formats.visible import visible
from mcpc.importing import translate
from mcpc.importing.comparing import differing
from mcpc.importing.telling import NAME, told
from mcpc.sources import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.importing import Translation
    from mcpc.options import Options
    from mcpc.sources import SourceTree


@report.command()
@report.PROJECT
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), required=True, help="A new or empty folder.")
@report.build_options
@report.FORMAT_OPTION
def command(project: Path, target: Path, output: str, **given: Any) -> None:
    """Write PROJECT, of any format, in the native one.

    The new folder is a project that builds to a server with the same tools, prompts and resources; IMPORT.md in it says
    what became of each definition.  PROJECT stays as it is.
    """
    options = report.options_of(given)
    root = report.project_folder(project)
    refuse(target, root)
    tree, found = pipeline.read(root)
    analysed = pipeline.analyse(tree, found, options)
    report.report(report.worth_telling(analysed.diagnostics, output), analysed.sources, output, root)
    if analysed.checked is None:
        raise click.exceptions.Exit(report.FINDINGS)
    report.refuse_unimported(options, analysed.diagnostics)
    translation = translate(tree, options)
    # What nobody gave a name is called as its folder: it has to be right where it will lie.
    differences = compared(translation, analysed, replace(tree, name=target.resolve().name), options)
    report.report((*translation.lost, *differences), translation.files, output, target)
    page = Source(NAME, told(translation, differences), 0o644)
    write({**translation.files, NAME: page}, target)
    if output == "text":
        say(translation, target)


def refuse(target: Path, root: Path) -> None:
    """Refuse a place at which something lies, or that is a part of the project."""
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise click.UsageError(f"{target} is there already; an import wants a new or an empty folder")
    if target.resolve().is_relative_to(root.resolve()):
        raise click.UsageError(f"{target} lies in the project; expected a folder outside of it")


def compared(translation: Translation, before: pipeline.Checked, tree: SourceTree, options: Options) -> Diagnostics:
    """Return what clients are shown otherwise; leave if what would be written is no project without errors."""
    imported = replace(tree, files=MappingProxyType(dict(translation.files)))
    again = pipeline.analyse(imported, (), replace(options, format="", kb=""))
    if again.server is None or again.checked is None or before.server is None:
        report.report(again.diagnostics, again.sources, "text")
        click.echo("Error: what is written here has no native form that builds; nothing was written", err=True)
        raise click.exceptions.Exit(report.FINDINGS)
    return tuple(differing(before.server, again.server))


def write(files: Mapping[str, Source], target: Path) -> None:
    """Write a project: whole, or not at all."""
    try:
        folder = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=".mcpc-"))
    except OSError as problem:
        raise click.UsageError(f"cannot write {target}: {problem.strerror}") from None
    try:
        for path, source in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.data)
            place.chmod(source.mode & 0o777 | 0o600)
        folder.chmod(0o755)
        folder.replace(target)
    except OSError as problem:
        raise click.UsageError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say(translation: Translation, target: Path) -> None:
    """Say in a few lines what was done."""
    counts = Counter((row.target, row.runs.partition(",")[0]) for row in translation.rows)
    for (file, runs), count in counts.items():
        click.echo(f"{visible(str(target / file))}: {count}, {runs}", err=True)
    for path in translation.left_out:
        click.echo(f"{visible(path)}: said in ours now", err=True)
    build = f"mcpc build {shlex.quote(str(target))} -o server.pyz"
    click.echo(f"{target / NAME} says what became of each; now: {build}", err=True)
