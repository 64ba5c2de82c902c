"""Paths of projects and of built files on the command line: what is not there is said in the same words everywhere.

A Python file stands for its folder, in which it is the entry (`--entry`), if no folder above it is the project's.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages

if TYPE_CHECKING:
    from collections.abc import Iterable

ENTRY_KEY = "mcpc.entry"
"""The entry that a path on the command line names, among the data of a command."""
PROGRAM = re.compile(r"(?P<file>.+\.py)(?P<object>:[\w.]+(?:\(\))?)?")
SOURCE = ".py"
PROJECT_FILE = "pyproject.toml"


class ProjectPath(click.Path):
    """The folder of a project, or a file that makes its server."""

    expected = "a project folder"

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the folder; raise a usage error that names what is near."""
        path, program = Path(value), PROGRAM.fullmatch(os.fspath(value))
        if self.is_fit(path):
            return path
        if program is not None and Path(program["file"]).is_file():
            option = param.opts[0] if isinstance(param, click.Option) else ""
            return folder_of(Path(program["file"]), program["object"] or "", ctx, option)
        if path.exists():
            raise click.UsageError(messages.FOLDER_OF_FILE_EXPECTED.format(path=path, folder=path.parent))
        hint = nearest_path(path, self.is_fit)
        raise click.UsageError(messages.PATH_EXPECTED.format(path=path, expected=self.expected, hint=hint))

    def is_fit(self, path: Path) -> bool:
        """Tell whether a path is one of those that are expected."""
        return path.is_dir()


class TargetPath(ProjectPath):
    """The folder of a project, or a built file."""

    expected = "a project folder or a built file"

    def is_fit(self, path: Path) -> bool:
        """Tell whether a path is a folder, or a file that may be a built one."""
        return path.is_dir() or (path.exists() and path.suffix != SOURCE)


PROJECT, TARGET = ProjectPath(), TargetPath()


def folder_of(file: Path, name: str, ctx: click.Context | None, option: str = "") -> Path:
    """Return the folder of a Python file, and keep the file as its entry; refuse a file inside of a larger project.

    `option`: the option that names the file, if no argument does.
    """
    root = project_above(file)
    if root != file.resolve().parent:
        path = "build" if ctx is None else ctx.command_path.partition(" ")[2] or ctx.info_name
        command = f"{path} {option}".strip()
        words = {"path": file, "folder": os.path.relpath(root), "entry": file.resolve().relative_to(root).as_posix()}
        raise click.UsageError(messages.ENTRY_EXPECTED.format(command=command, **words))
    if ctx is not None:
        ctx.meta[ENTRY_KEY] = f"{file.name}{name}"
    return file.parent


def project_above(file: Path) -> Path:
    """Return the nearest folder above a file that has a `pyproject.toml`, else its folder."""
    folders = file.resolve().parents
    return next((folder for folder in folders if (folder / PROJECT_FILE).is_file()), folders[0])


def entry_of_path(ctx: click.Context, _: click.Parameter, given: str | None) -> str | None:
    """Return the value of `--entry`, else the entry that the path of the project names."""
    return given if given is not None else ctx.meta.get(ENTRY_KEY)


def nearest_path(path: Path, is_fit: Any) -> str:
    """Return a hint with the path beside a missing one that is most similar, or nothing."""
    from mcpc.diagnostics.suggestions import nearest  # noqa: PLC0415 - a shell that completes does without

    beside: Iterable[Path] = path.parent.iterdir() if path.parent.is_dir() else ()
    fit = (each.name for each in beside if is_fit(each) or each.suffix == SOURCE)
    found = nearest(path.name, sorted(fit))
    return f"; did you mean {path.with_name(found)}?" if found else ""
