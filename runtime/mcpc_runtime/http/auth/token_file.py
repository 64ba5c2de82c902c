"""A file of static tokens that is read again when it changes, so that tokens can be added and revoked while serving.

The tokens that were read last stay valid until the file is valid again: an unreadable, unsafe or empty file changes
nothing, and is logged once.

Rotation of static tokens while a server runs: their file is checked once a second, and read on SIGHUP.

Requests with a removed token are refused from then on, and its streams end.  Running calls are allowed to end, as when
a token expires.

Read files with secrets, only if no other user can read or replace them.

A symlink is always refused, because any user who can change the link can choose the secret.
"""

from __future__ import annotations

import os
import stat
from asyncio import get_running_loop

from mcpc_runtime.http.auth.tokens import tokens_from
from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.interfaces import TokenSource
from mcpc_runtime.http.principals import MisconfiguredError, Principal
from mcpc_runtime.log import log_line
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import access_of_others, is_credential, is_own_file

MAX_BYTES = 4096
# Without O_NONBLOCK, to open a named pipe would wait for a writer.
FLAGS = system.O_RDONLY | system.O_NOFOLLOW | system.O_NONBLOCK | system.O_CLOEXEC


def read_secret(path: str) -> str:
    """Return the text of a file that only this user can access; raise MisconfiguredError."""
    try:
        descriptor = system.open(path, FLAGS)
    except OSError as problem:
        why = "it is a symlink" if os.path.islink(path) else problem.strerror
        raise MisconfiguredError(f"{path} cannot be used: {why}") from None
    try:
        # Of what is open, not of the path: between a check and the opening the file could be replaced.
        status = os.fstat(descriptor)
        wrong = "" if is_credential(path, status) else access_problem(status)
        data = b"" if wrong else os.read(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    wrong = wrong or secret_problem(data)
    if wrong:
        raise MisconfiguredError(f"{path} cannot be used: {wrong}")
    return data.decode("ascii")


def access_problem(status: os.stat_result) -> str:
    """Return why a file is not safe, or an empty string."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no file"
    if not is_own_file(status):
        return "it belongs to another user"
    if access_of_others(status):
        return f"others can get at it (its mode is {stat.S_IMODE(status.st_mode):04o}; chmod 600 fixes that)"
    return "" if status.st_size <= MAX_BYTES else f"it has more than {MAX_BYTES} bytes"


def secret_problem(data: bytes) -> str:
    """Return why the contents are not valid as a secret, or an empty string."""
    if not data.strip():
        return "it is empty"
    if len(data) > MAX_BYTES:
        return f"it has more than {MAX_BYTES} bytes"
    return "" if data.isascii() and b"\0" not in data else "it is no ASCII text"


Signature = tuple[int, ...] | None


class TokenFile:
    """The tokens of one file; raises MisconfiguredError if it cannot be used at the start."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._signature = signature(path)
        self.tokens = tokens_from(read_secret(path), path)

    def read_changes(self) -> list[Principal]:
        """Read the file if it has changed; return the principals of removed tokens."""
        current = signature(self._path)
        return [] if current == self._signature else self.read(current)

    def read(self, current: Signature = None) -> list[Principal]:
        """Read the file, and log what changed; return the principals of removed tokens."""
        # Before the file is read: a change during the reading is seen at the next check.
        self._signature = current or signature(self._path)
        try:
            read = tokens_from(read_secret(self._path), self._path)
        except MisconfiguredError as problem:
            log_line(f"{problem}; the tokens that were read before still count")
            return []
        before = self.tokens.count
        removed = self.tokens.replace(read)
        added = self.tokens.count - before + len(removed)
        log_line(f"{self._path} was read again: {self.tokens.count} tokens, {added} new, {len(removed)} removed")
        return removed


def signature(path: str) -> Signature:
    """Return values that change when a file is written or replaced, None if there is no file."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


CHECK_SECONDS = 1.0


class Rotation:
    """Watches the token file of the servers, in the running loop."""

    def __init__(self, watched: TokenSource, drivers: list[HttpDriver]) -> None:
        self._watched = watched
        self._drivers = drivers
        self._loop = get_running_loop()
        self._timer = self._loop.call_later(CHECK_SECONDS, self._check)

    def _check(self) -> None:
        self._timer = self._loop.call_later(CHECK_SECONDS, self._check)
        self._end(self._watched.read_changes())

    def reload(self) -> None:
        """Read the file now, changed or not."""
        self._end(self._watched.read())

    def _end(self, removed: list[Principal]) -> None:
        """End the streams of removed tokens."""
        for driver in self._drivers if removed else ():
            driver.end_leases(removed)

    def close(self) -> None:
        """Stop watching."""
        self._timer.cancel()


def reload(rotation: Rotation | None) -> None:
    """Handle SIGHUP: read the token file again, if there is one."""
    if rotation is None:
        log_line("SIGHUP: there is no token file to read again, and nothing else is read while the server runs")
    else:
        rotation.reload()
