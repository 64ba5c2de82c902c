"""Tell when the files of a project are others than before: by looking, since that needs nothing of the system.

What a build passes over is passed over here.  A look costs a `stat` for each file, so looks are as far apart as they
are dear; a change is told once the files have stood still for a moment, or will not.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from typing import TYPE_CHECKING

from mcpc.sources.tree import IGNORED_BEGINNING, IGNORED_ENDINGS, IGNORED_NAMES, MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOOK_SECONDS = 0.4
MOMENT_SECONDS = 0.1
LONGEST_SECONDS = 2.0
"""Files that never stand still are taken as they are after so long."""
SHARE = 20
"""Looking takes at most this part of the time: one in twenty."""

Fingerprint = frozenset[tuple[str, int, int, int, int]]
"""Of each file its path, when it was written, its size, its mode and which file it is."""


def fingerprint(root: Path) -> Fingerprint:
    """Return what a project's files look like; nothing if it is not there.  O(files), and no file is opened."""
    seen: set[tuple[int, int]] = set()
    found: list[tuple[str, int, int, int, int]] = []
    folders = [os.fspath(root)]
    while folders and len(found) < MAX_ENTRIES:
        for entry in entries(folders.pop()):
            status = looked_at(entry)
            if status is None:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders += fresh(entry, status, seen)
            elif not entry.name.endswith(IGNORED_ENDINGS):
                found.append((entry.path, status.st_mtime_ns, status.st_size, status.st_mode, status.st_ino))
    return frozenset(found)


def entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield what a folder holds that a build would look at; nothing if it has just gone."""
    try:
        with os.scandir(folder) as found:
            listed = list(found)
    except OSError:
        return
    for entry in listed:
        if entry.name not in IGNORED_NAMES and not entry.name.startswith(IGNORED_BEGINNING):
            yield entry


def looked_at(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return what an entry is where symlinks lead, else what the symlink is, None if it has just gone."""
    for follow in (True, False):
        try:
            return entry.stat(follow_symlinks=follow)
        except OSError:
            continue
    return None


def fresh(entry: os.DirEntry[str], status: os.stat_result, seen: set[tuple[int, int]]) -> list[str]:
    """Return a folder that is to be looked into: no hidden one, and none twice, since symlinks lead in circles."""
    known = (status.st_dev, status.st_ino)
    if entry.name.startswith(".") or known in seen:
        return []
    seen.add(known)
    return [entry.path]


class Watcher:
    """Looks at a project until it is stopped; what is compared with first is what was there when it was made."""

    def __init__(self, root: Path, changed: Callable[[], None]) -> None:
        self._root = root
        self._changed = changed
        self._over = threading.Event()
        self._known = fingerprint(root)

    def start(self) -> None:
        """Look from now on, in a thread of its own."""
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()

    def _watch(self) -> None:
        pause = LOOK_SECONDS
        while not self._over.wait(pause):
            began = time.monotonic()
            found = fingerprint(self._root)
            pause = max(LOOK_SECONDS, SHARE * (time.monotonic() - began))
            if found != self._known:
                self._known = self._settled(found)
                self._changed()

    def _settled(self, found: Fingerprint) -> Fingerprint:
        """Return what the files look like when nobody writes them any more, or has for too long."""
        until = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < until and not self._over.wait(MOMENT_SECONDS):
            earlier, found = found, fingerprint(self._root)
            if found == earlier:
                break
        return found
