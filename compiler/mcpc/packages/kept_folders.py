"""Folders of installed packages in the cache: written completely or not at all, and used only as they were written.

A file is read again only if the file system says that it may have changed since it had its digest: its size, its times
or its number differ. The time of a change of status cannot be set by a program.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.packages.model import Distribution
from mcpc.sandbox.cache_dir import is_private, kind_folder, prune_entries
from mcpc.sandbox.platforms.files import file_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    States = dict[str, tuple[str, list[int]]]

FILES, DESCRIPTION, STATES = "files", "staged.json", "states.json"


def load_folder(folder: Path) -> tuple[Distribution, ...] | None:
    """Return the packages in a folder that was filled before; None if it was not, or was changed."""
    if not is_private(folder):
        return None
    try:
        rows = json.loads((folder / DESCRIPTION).read_bytes())
        distributions = tuple(Distribution(**{**row, "tags": tuple(row["tags"])}) for row in rows)
        is_whole = is_unchanged(folder, distributions)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not is_whole:
        return None
    with suppress(OSError):
        os.utime(folder)  # it was used
    return distributions


def is_unchanged(folder: Path, distributions: Iterable[Distribution]) -> bool:
    """Tell whether every file has its digest, and record the state of each."""
    try:
        before: States = {path: tuple(row) for path, row in json.loads((folder / STATES).read_bytes()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        before = {}
    states: States = {}
    start = f"{folder / FILES}{os.sep}"
    for item in distributions:
        for path, digest in item.files.items():
            states[path] = digest, file_state(start + path)
            is_known = bool(states[path][1]) and before.get(path) == states[path]
            if not is_known and hashlib.sha256(Path(start + path).read_bytes()).hexdigest() != digest:
                return False
    if states != before:
        with suppress(OSError):
            (folder / STATES).write_text(json.dumps(states), encoding="utf-8")
    return True


def fill_folder(folder: Path, install: Callable[[Path], tuple[Distribution, ...]]) -> tuple[Distribution, ...]:
    """Install into a folder beside `folder`, and rename it when it is complete."""
    kind_folder(folder.parent.name)
    filled = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        distributions = install(filled)
        (filled / DESCRIPTION).write_text(
            json.dumps([asdict(distribution) for distribution in distributions]), encoding="utf-8"
        )
        _rename(filled, folder)
    finally:
        shutil.rmtree(filled, ignore_errors=True)
    prune_entries(folder.parent.name)
    return distributions


def _rename(filled: Path, folder: Path) -> None:
    """Rename a filled folder; another process may have created the same one, which is used unless it was changed."""
    try:
        filled.rename(folder)
    except OSError:
        if load_folder(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                filled.rename(folder)
