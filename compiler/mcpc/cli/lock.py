"""`mcpc lock`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from mcpc import pipeline
from mcpc.cli import command_options, messages, report
from mcpc.cli.build_steps import atomic_write, output_path
from mcpc.options import MINORS
from mcpc.packages.lock_files import PYLOCK, UV_LOCK, is_lock_name
from mcpc.packages.pep508 import normalised_name
from mcpc.packages.toml_tables import declared_platforms
from mcpc.reading.selection import PYPROJECT
from mcpc.release import locking

EVERY = ""
"""The value of `--upgrade` without a package."""


def validate_versions(_: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return minor versions of Python; refuse other values."""
    if value is not None and not MINORS.fullmatch(value):
        raise click.BadParameter(messages.MINORS_EXPECTED.format(value=value), param=option)
    return value


def validate_packages(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return normalised names of packages; refuse a project that follows the option."""
    wrong = next((name for name in given if name in (".", "..") or "/" in name), None)
    if wrong is not None:
        raise click.BadParameter(messages.PACKAGE_EXPECTED.format(value=wrong), param=option)
    return tuple(normalised_name(name) for name in given)


@command_options.command()
@command_options.PROJECT_ARGUMENT
@click.option("--check", "is_check", is_flag=True, help="Change nothing; exit with 6 if the lock is not up to date.")
@click.option(
    "--upgrade",
    "upgraded",
    is_flag=False,
    flag_value=EVERY,
    multiple=True,
    metavar="[PACKAGE]",
    callback=validate_packages,
    help="Choose the newest version of this package, or of all; can be repeated.",
)
@click.option(
    "--python",
    metavar="VERSIONS",
    callback=validate_versions,
    help="Pythons to lock for: 3.11,3.12 (default: those of the lock, or of `requires-python`).",
)
@click.option(
    "--wheels",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write the locked files into this folder, for `--find-links`.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing if there are no problems.")
@command_options.build_options
@command_options.FORMAT_OPTION
def command(
    project: Path, is_check: bool, upgraded: tuple[str, ...], wheels: Path | None, quiet: bool, **given: Any
) -> None:
    """Write the lock of PROJECT (a folder; this one by default): `pylock.toml`, with a digest of each file.

    Versions of an existing lock are kept, and so is what it is for.
    """
    output, name = given.pop("output"), lock_name(given.pop("lock"))
    options = command_options.read_options(given)
    # None stands for all packages.
    chosen = None if EVERY in upgraded else upgraded
    with report.progress_reporter(quiet) as tell:
        tree, found = pipeline.read_project(project)
        options = replace(options, platforms=options.platforms or declared_platforms(tree.get(PYPROJECT)))
        order = locking.LockOrder(name, chosen, is_check=is_check, with_files=wheels is not None)
        made = locking.make_lock(tree, found, options, order, tell)
    report.report(report.decisive(made.problems, replace(options, locked=is_check)), tree.files, output, project)
    report.exit_if_refused(made.problems, options)
    if not is_check:
        write_file(project / name, made.text.encode())
    if wheels is not None:
        for file, data in made.files.items():
            write_file(wheels / file, data)
    if not quiet:
        click.echo(messages.LOCKED[is_check].format(path=project / name, **made.counts()), err=True)


def lock_name(named: str | None) -> str:
    """Return the name of the lock to write; refuse one that is not of PEP 751."""
    name = named or PYLOCK
    # `uv.lock` is read, too, but only uv writes it.
    if Path(name).name != name or not is_lock_name(name) or name == UV_LOCK:
        raise click.UsageError(messages.LOCK_NAME_EXPECTED.format(path=name))
    return name


def write_file(target: Path, data: bytes) -> None:
    """Write a file atomically, if it has other bytes."""
    place = output_path(target)
    if not place.exists() or place.read_bytes() != data:
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(place, data, place.stat().st_mode & 0o777 if place.exists() else 0o644):
            pass
