"""A file of static tokens that is read again when it changes, so that tokens can be added and revoked while serving.

The tokens that were read last stay valid until the file is valid again: an unreadable, unsafe or empty file changes
nothing, and is logged once.
"""

from __future__ import annotations

import os

from mcpc_runtime.http.auth.principals import MisconfiguredError
from mcpc_runtime.http.auth.secret_files import read_secret
from mcpc_runtime.http.auth.tokens import tokens_from
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.log.operator_log import log_line

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
