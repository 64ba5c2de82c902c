"""`mcpc new FOLDER --import PROJECT`: a project of another format becomes one of the native format."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from mcpc import pipeline
from mcpc.cli import command_options, messages, report
from mcpc.cli.build_steps import refuse_unwritable
from mcpc.diagnostics.formats.visible import visible
from mcpc.reading import Source
from mcpc.sandbox.platforms import quoted_word
from mcpc.workbench.importing import NAME, import_report, list_differences, translate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.reading import SourceTree
    from mcpc.workbench.importing import Translation


def convert(project: Path, target: Path, output: str, given: dict[str, Any]) -> None:
    """Write a project in the native format into a new folder, and report what could not be converted."""
    options = command_options.read_options(given)
    root = project
    check_target(target, root)
    tree, found = pipeline.read_project(root)
    analysed = pipeline.analyse(tree, found, options)
    report.report(report.notable_diagnostics(analysed.diagnostics, output), analysed.sources, output, root)
    if analysed.checked is None:
        raise click.exceptions.Exit(report.FINDINGS)
    report.refuse_unimported(options, analysed.diagnostics)
    translation = translate(tree, options)
    # A server without a name is named by its folder, so the target folder's name is used.
    differences = compare_projects(translation, analysed, replace(tree, name=target.resolve().name), options)
    report.report((*translation.lost, *differences), translation.files, output, target)
    page = Source(NAME, import_report(translation, differences), 0o644)
    write_project({**translation.files, NAME: page}, target)
    if output == "text":
        print_summary(translation, target)


def check_target(target: Path, root: Path) -> None:
    """Refuse a target folder that exists or is inside the project."""
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise click.UsageError(messages.ALREADY_EXISTS.format(path=target))
    if target.resolve().is_relative_to(root.resolve()):
        raise click.UsageError(messages.INSIDE_PROJECT.format(path=target))


def compare_projects(
    translation: Translation, before: pipeline.CheckResult, tree: SourceTree, options: Options
) -> Diagnostics:
    """Return the differences that clients see; exit if the new project has errors."""
    imported = replace(tree, files=MappingProxyType(dict(translation.files)))
    # The format and the folder that were named are those of the original.
    again = pipeline.analyse(imported, (), replace(options, format="", kb=""))
    if again.server is None or again.checked is None or before.server is None:
        report.report(again.diagnostics, again.sources, "text")
        click.echo(messages.IMPORT_DOES_NOT_BUILD, err=True)
        raise click.exceptions.Exit(report.FINDINGS)
    return tuple(list_differences(before.server, again.server))


def write_project(files: Mapping[str, Source], target: Path) -> None:
    """Write a project atomically."""
    with refuse_unwritable(target):
        folder = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=".mcpc-"))
        try:
            for path, source in files.items():
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(source.data)
                # Its owner is to edit it, even where the original may only be read.
                place.chmod(source.mode & 0o777 | 0o600)
            # `mkdtemp` makes a folder that only its owner can enter.
            folder.chmod(0o755)
            folder.replace(target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def print_summary(translation: Translation, target: Path) -> None:
    """Print a short summary of the import."""
    counts = Counter((row.target, row.runs.partition(",")[0]) for row in translation.rows)
    for (file, runs), count in counts.items():
        click.echo(f"{visible(str(target / file))}: {count}, {runs}", err=True)
    for path in translation.left_out:
        click.echo(messages.CONVERTED.format(path=visible(path)), err=True)
    build = f"mcpc build {quoted_word(str(target))} -o server.pyz"
    click.echo(messages.NEXT_AFTER_IMPORT.format(path=target / NAME, command=build), err=True)
