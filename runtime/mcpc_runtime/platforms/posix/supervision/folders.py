"""Folders that a server wrote and that go when it goes: the supervisor knows them, and outlives us if we are killed."""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import AnyStr

FOLDERS: list[str] = []
"""Every one there is."""


def remove_tree(folder: str) -> None:
    """Remove a folder and what is in it, as far as that can be done; no symbolic link is followed."""
    found = [folder]
    for place in found:  # grows while it is walked: folders come before what they hold
        try:
            entries = list(posix.scandir(place))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                found.append(entry.path)
            else:
                attempt(posix.unlink, entry.path)
    for place in reversed(found):
        attempt(posix.rmdir, place)


def attempt(remove: Callable[[AnyStr], None], path: AnyStr) -> None:
    """Remove something, if it is there and may be removed."""
    try:
        remove(path)
    except OSError:
        return
