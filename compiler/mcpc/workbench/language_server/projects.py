"""Which project a file belongs to: the nearest folder above it that a format recognises, inside the workspace."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.frontends import select_frontends
from mcpc.pipeline import read_project
from mcpc.reading.source import source_of_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mcpc.options import Options
    from mcpc.reading import SourceTree

KINDS = ("tools", "prompts", "resources", "completions")
MARKERS = frozenset(
    (
        *(f"{kind}.{ending}" for kind in KINDS for ending in ("json", "d", "bash", "py")),
        *("server.json", "server.py", "servers.json", "server.d", "tools", "skills", "boxlang.json"),
        *("pyproject.toml", "package.json", "dev", "mcpserver_core.sh"),
    )
)
"""Names of which a project has at least one; a folder without any is not read."""
PARTS = ("tools", "prompts", "resources", "skills")
"""Names of folders that belong to the project around them, also if they would be projects alone."""
MAX_LEVELS = 12


def project_of(file: Path, text: str, folders: Sequence[Path], options: Options) -> SourceTree | None:
    """Return the files of the project that a file belongs to; None if there is none.

    `text`: the content of the file, which need not be on disk; `folders`: those of the workspace.
    """
    part: tuple[Path, SourceTree] | None = None
    for folder in _candidates(file, folders):
        if part is not None and part[0].parent != folder:
            break
        tree = _project_at(folder, file, text, options)
        if tree is None:
            continue
        if folder.name not in PARTS or part is not None:
            return tree
        part = folder, tree
    return part and part[1]


def _project_at(folder: Path, file: Path, text: str, options: Options) -> SourceTree | None:
    """Return the files of a folder, if it is a project with the file."""
    tree, _ = read_project(folder)
    path = file.relative_to(folder).as_posix()
    with_file = {**tree.files, path: source_of_text(path, text)}
    whole = replace(tree, files=MappingProxyType(dict(sorted(with_file.items()))))
    found, _ = select_frontends(whole, options)
    return tree if found else None


def _candidates(file: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders above a file that may be a project, the nearest first, up to that of the workspace."""
    top = max(
        (folder for folder in folders if file.is_relative_to(folder)), key=lambda each: len(each.parts), default=None
    )
    for folder in [*file.parents][:MAX_LEVELS]:
        if _may_be_project(folder, file):
            yield folder
        if folder == top or (top is None and (folder / ".git").exists()):
            return


def _may_be_project(folder: Path, file: Path) -> bool:
    try:
        names = {each.name for each in folder.iterdir()}
    except OSError:
        names = set()
    own = {file.name} if file.parent == folder else set()
    return bool((names | own) & MARKERS) or file.parent.name in MARKERS
