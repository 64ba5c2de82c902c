"""Temporary folders of the server: the supervisor removes them, even if the server is killed."""

from __future__ import annotations

from collections.abc import Callable
from os import DirEntry
from typing import AnyStr

from mcpc_runtime.transports.platforms import system

TEMPORARY_FOLDERS: list[str] = []
"""The paths of all of them."""


def remove_tree(folder: str) -> None:
    """Remove a folder and its contents, as far as possible; links of any kind are not followed."""
    folders = [folder]
    for path in folders:  # grows while it is walked: folders come before their contents
        try:
            entries = list(system.scandir(path))
        except OSError:
            continue
        for entry in entries:
            if is_folder(entry):
                folders.append(entry.path)
            else:
                remove_quietly(system.unlink, entry.path)
    for path in reversed(folders):
        remove_quietly(system.rmdir, path)


def is_folder(entry: DirEntry[str]) -> bool:
    """Tell whether an entry is a folder itself: Windows has links that are folders, too (junctions)."""
    try:
        status = entry.stat(follow_symlinks=False)
        return entry.is_dir(follow_symlinks=False) and not getattr(status, "st_reparse_tag", 0)
    except OSError:
        return False


def remove_quietly(remove: Callable[[AnyStr], None], path: AnyStr) -> None:
    """Remove a path; an error is ignored."""
    try:
        remove(path)
    except OSError:
        return
