"""Change one file of a client: whole or not at all, and never over a change that another program makes meanwhile.

A file is written beside the old one and takes its name after the old one was read again and is what it was.  Links are
followed; mode and group stay.  Each change leaves a backup, named after the entry and the digest of the new contents:
so it is known whether a file is still what a change made of it, and the change can be undone byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from mcpc_runtime.tools.clients.text_edits import CannotEditError
from mcpc_runtime.transports.platforms.files import (
    keep_attributes,
    lock_descriptor,
    refusal_of_file,
    replace_file,
)

Change = Callable[[str], str]
"""Returns the new text of a file; CannotEditError refuses."""


MAX_BYTES = 64 << 20
ATTEMPTS = 20
"""How often a change is made again because the file was changed meanwhile."""
BACKUPS = 3
"""The number of backups of one file."""
BACKUP = ".mcpc-bak"
NEW_MODE = 0o600
"""The mode of a new file: it may have secrets."""
KEEPS_CHANGING = "another program keeps changing it"
LOCK_SECONDS, RETRY_SECONDS = 10.0, 0.05
STAYS_LOCKED = "another installation has locked it, and does not end"
NO_LOCK = "its lock {lock} cannot be opened: {problem}"
TAG_LENGTH = 16


class Contents(NamedTuple):
    """What a file had when it was read; without a status there is no file."""

    data: bytes
    status: os.stat_result | None


class Step(NamedTuple):
    """What a file had before a change, in a backup."""

    path: str
    data: bytes


def read_contents(path: str) -> Contents:
    """Return the bytes of a file; refuse what is not a regular file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return Contents(b"", None)
    except NotADirectoryError:
        raise CannotEditError("a folder of its path is a file") from None
    if not stat.S_ISREG(status.st_mode):
        raise CannotEditError("it is not a regular file")
    if status.st_size > MAX_BYTES:
        raise CannotEditError("it is too big")
    with open(path, "rb") as file:
        return Contents(file.read(), status)


def read_text(path: str) -> str:
    """Return the text of a file; a missing one is empty."""
    return decoded(read_contents(os.path.realpath(path)).data)


def decoded(data: bytes) -> str:
    """Return bytes as text; refuse what is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise CannotEditError("it is not UTF-8") from None


def edit_file(path: str, name: str, change: Change) -> bool:
    """Change the text of a file, or make it; return whether it was changed.  `name`: the entry, for the backup."""
    # A link in the user's configuration stays one: its target is changed.
    place = os.path.realpath(path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with lock_of(place):
        for attempt in range(ATTEMPTS):
            before = read_changeable(place)
            text = decoded(before.data)
            new = change(text)
            if new == text and before.status is not None:
                return False
            if before.status is not None:
                # Only the first attempt removes old backups, so that a file that keeps changing does not lose them all.
                keep_backup(place, name, before, new, rotates=attempt == 0)
            if exchanged(place, before, new.encode()):
                return True
    raise CannotEditError(KEEPS_CHANGING)


def undo_in_file(path: str, name: str, change: Change, says_nothing: Callable[[str], bool]) -> bool:
    """Undo the changes for an entry; return whether the file was changed.

    It becomes what it was if nothing else changed it since.  Else its text is changed.  `change` removes the entry,
    also from what the file was if it was made with that.  A file that then `says_nothing`, and that was made here, as
    all its backups have the entry, is removed.
    """
    place = os.path.realpath(path)
    if not os.path.isdir(os.path.dirname(place)):
        return False
    with lock_of(place):
        for attempt in range(ATTEMPTS):
            before = read_changeable(place)
            if before.status is None:
                return False
            steps = earlier_steps(place, name, before.data)
            text = decoded(steps[-1].data if steps else before.data)
            new = change(text)
            if new.encode() == before.data:
                return False
            had_entry = new != text and len(steps) < BACKUPS
            is_removed = had_entry and says_nothing(new) and len(backups(place)) == len(steps)
            if not steps and not is_removed:
                keep_backup(place, name, before, new, rotates=attempt == 0)
            if exchanged(place, before, None if is_removed else new.encode()):
                for step in steps:
                    removed(step.path)
                return True
    raise CannotEditError(KEEPS_CHANGING)


def read_changeable(place: str) -> Contents:
    """Return what a file has; refuse one that belongs to another user or is read-only."""
    contents = read_contents(place)
    why = refusal_of_file(contents.status) if contents.status is not None else ""
    if why:
        raise CannotEditError(why)
    return contents


def exchanged(place: str, before: Contents, new: bytes | None) -> bool:
    """Put new contents in the place of a file, or remove it, if it is still what it was; tell whether it was."""
    with written_beside(place, new or b"", before.status) as temporary:
        # Read again as late as possible; between this and the renaming another program's change would be lost.
        if read_contents(place).data != before.data or os.path.exists(place) != (before.status is not None):
            return False
        if new is None:
            os.unlink(place)
        else:
            replace_file(temporary, place)
        return True


@contextmanager
def written_beside(place: str, data: bytes, status: os.stat_result | None) -> Iterator[str]:
    """Yield a complete file in the folder of another one; it is removed unless it was renamed."""
    folder, name = os.path.split(place)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".mcpc-tmp", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if status is not None:
                keep_attributes(file.fileno(), status)
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def opened_lock(lock: str) -> int:
    """Return the descriptor of a lock, which is made if it is not there; a link is not followed."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(lock, flags, NEW_MODE)
    except OSError as problem:
        raise CannotEditError(NO_LOCK.format(lock=lock, problem=problem.strerror)) from None


@contextmanager
def lock_of(place: str) -> Iterator[None]:
    """Hold the lock of a file among installations; its file is removed by the one that has it."""
    folder, name = os.path.split(place)
    lock = os.path.join(folder, f".{name}.mcpc-lock")
    until = time.monotonic() + LOCK_SECONDS
    while True:
        descriptor = opened_lock(lock)
        is_taken = lock_descriptor(descriptor)
        with suppress(OSError):
            # The process that had it before may have removed the file: then this is the lock of no name.
            if is_taken and os.path.samestat(os.stat(lock), os.fstat(descriptor)):
                break
        os.close(descriptor)
        if not is_taken:
            if time.monotonic() >= until:
                raise CannotEditError(STAYS_LOCKED)
            time.sleep(RETRY_SECONDS)
    try:
        yield
    finally:
        # Removed while it is held: one that waits for it finds another file or none of this name, and tries again.
        is_removed = removed(lock)
        os.close(descriptor)
        if not is_removed:  # Windows removes no open file, and so none that another process has the lock of
            removed(lock)


def removed(path: str) -> bool:
    """Remove a file; return whether that was possible."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def backup_path(place: str, name: str, data: bytes) -> str:
    """Return the path of the backup that was made when an entry's change wrote these bytes."""
    return f"{place}.{name}-{hashlib.sha256(data).hexdigest()[:TAG_LENGTH]}{BACKUP}"


def backups(place: str) -> list[str]:
    """Return the backups of a file, the oldest first."""
    folder, name = os.path.split(place)
    entries = [
        entry for entry in os.scandir(folder) if entry.name.startswith(f"{name}.") and entry.name.endswith(BACKUP)
    ]
    return [entry.path for entry in sorted(entries, key=lambda entry: (entry.stat().st_mtime_ns, entry.name))]


def keep_backup(place: str, name: str, before: Contents, new: str, *, rotates: bool) -> None:
    """Write the backup of a change, and remove the oldest ones."""
    target = backup_path(place, name, new.encode())
    with written_beside(place, before.data, before.status) as temporary:
        replace_file(temporary, target)
    # All but the newest ones, and never the backup of this change.
    for path in [each for each in backups(place) if each != target][: -(BACKUPS - 1)] if rotates else ():
        with suppress(OSError):
            os.unlink(path)


def earlier_steps(place: str, name: str, data: bytes) -> list[Step]:
    """Return what a file had before each change for an entry, the last one first, if nothing else changed it since."""
    steps: list[Step] = []
    while len(steps) < BACKUPS:
        path = backup_path(place, name, data)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            break
        steps.append(Step(path, data))
    return steps
