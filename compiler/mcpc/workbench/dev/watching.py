"""Watch a project for file changes by polling, which needs no system service.

Files that a build ignores are ignored here. A poll costs a `stat` per file, so the interval grows with the cost; a
change is reported when the files have been stable for a moment, or after a maximum time.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from typing import TYPE_CHECKING

from mcpc.reading.selection import folder_reason
from mcpc.reading.tree import IGNORED_BEGINNING, IGNORED_ENDINGS, IGNORED_NAMES, MAX_ENTRIES
from mcpc.sandbox.platforms.files import status_of_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL_SECONDS = 0.4
SETTLE_SECONDS = 0.1
MAX_SETTLE_SECONDS = 2.0
"""After this time, files that keep changing are used as they are."""
MAX_POLLING_SHARE = 20
"""Polling takes at most this share of the time: one twentieth."""

Fingerprint = frozenset[tuple[str, int, int, int, int]]
"""For each file: path, modification time, size, mode and inode."""


def fingerprint(root: Path) -> Fingerprint:
    """Return the state of a project's files; empty if the project is missing.  O(files), no file is opened."""
    seen: set[tuple[int, int]] = set()
    found: list[tuple[str, int, int, int, int]] = []
    folders = [os.fspath(root)]
    while folders and len(found) < MAX_ENTRIES:
        for entry in project_entries(folders.pop()):
            status = entry_status(entry)
            if status is None:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders += unseen_folder(entry, status, seen)
            elif not entry.name.endswith(IGNORED_ENDINGS):
                found.append((entry.path, status.st_mtime_ns, status.st_size, status.st_mode, status.st_ino))
    return frozenset(found)


def project_entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder that a build would read; none if it was removed."""
    try:
        with os.scandir(folder) as found:
            listed = list(found)
    except OSError:
        return
    for entry in listed:
        if entry.name not in IGNORED_NAMES and not entry.name.startswith(IGNORED_BEGINNING):
            yield entry


def entry_status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of an entry after following symlinks, else of the symlink; None if it was removed."""
    for follow in (True, False):
        try:
            return status_of_entry(entry, follow=follow)
        except OSError:
            continue
    return None


def unseen_folder(entry: os.DirEntry[str], status: os.stat_result, seen: set[tuple[int, int]]) -> list[str]:
    """Return a folder to visit: not left out by its name, and not visited before, since symlinks may form cycles."""
    known = (status.st_dev, status.st_ino)
    if folder_reason(entry.name) or known in seen:
        return []
    seen.add(known)
    return [entry.path]


class ProjectWatcher:
    """Polls a project until it is stopped; the first comparison is with the state at its creation."""

    def __init__(self, root: Path, changed: Callable[[], None]) -> None:
        self._root = root
        self._changed = changed
        self._over = threading.Event()
        self._known = fingerprint(root)

    def start(self) -> None:
        """Start to poll for changes, in a separate thread."""
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """Stop polling."""
        self._over.set()

    def _watch(self) -> None:
        pause = POLL_SECONDS
        while not self._over.wait(pause):
            began = time.monotonic()
            found = fingerprint(self._root)
            pause = max(POLL_SECONDS, MAX_POLLING_SHARE * (time.monotonic() - began))
            if found != self._known:
                self._known = self._settled(found)
                self._changed()

    def _settled(self, found: Fingerprint) -> Fingerprint:
        """Return the files' state when it is stable, or has been changing for too long."""
        until = time.monotonic() + MAX_SETTLE_SECONDS
        while time.monotonic() < until and not self._over.wait(SETTLE_SECONDS):
            earlier, found = found, fingerprint(self._root)
            if found == earlier:
                break
        return found
