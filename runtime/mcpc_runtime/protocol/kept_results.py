"""The whole results that were cut for a model, until others need their place: each for the conversation it is of.

A name has the digest of what it names, so that no other content ever has it.  Bounds: entries, bytes, and over
HTTP the memory account of the principal; the principal that holds most loses what it has used longest ago.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

from mcpc_runtime.protocol.jsonrpc import Json


class Account(Protocol):
    """The bytes stored for one call or conversation; it may refuse to store more."""

    def charge(self, size: int) -> bool:
        """Add so many stored bytes; return False if there is no room for them."""
        ...

    def release(self, size: int) -> None:
        """Subtract so many stored bytes."""

    def clear(self) -> None:
        """Set the number of stored bytes to 0."""

    def end(self) -> None:
        """Set the number of stored bytes to 0, and ignore all later charges."""


SCHEME = "mcpc-result:"
MAX_ENTRIES = 64
OVERHEAD = 1024
"""The bytes of an entry beside its contents."""


class KeptResult:
    """One result: its contents as JSON, the principal whose it is, and the account that is charged for it."""

    __slots__ = ("account", "contents", "principal")

    def __init__(self, contents: bytes, principal: str, account: Account | None) -> None:
        self.contents = contents
        self.principal = principal
        self.account = account


class KeptResults:
    """The results by conversation and URI, those that were used longest ago first.  A change costs O(MAX_ENTRIES)."""

    __slots__ = ("_max_bytes", "_results")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._results: dict[tuple[str, str], KeptResult] = {}

    def keep(self, conversation: str, uri: str, result: KeptResult) -> bool:
        """Keep the contents of a URI for a conversation; return False if there is no room for them."""
        self._forget((conversation, uri))
        size = len(result.contents)
        if size > self._max_bytes or (result.account is not None and not result.account.charge(size + OVERHEAD)):
            return False
        self._results[conversation, uri] = result
        while len(self._results) > MAX_ENTRIES or sum(self._held().values()) > self._max_bytes:
            held = self._held()
            largest = max(held, key=held.__getitem__)
            self._forget(next(key for key, result in self._results.items() if result.principal == largest))
        return (conversation, uri) in self._results

    def read(self, conversation: str | None, uri: Json) -> bytes | None:
        """Return the contents of a URI for a conversation; None if it has none of this name."""
        if conversation is None or type(uri) is not str:
            return None
        # Put back below as the newest.
        result = self._results.pop((conversation, uri), None)
        if result is None:
            return None
        self._results[conversation, uri] = result
        return result.contents

    def _held(self) -> dict[str, int]:
        """Return the bytes of each principal."""
        held: dict[str, int] = {}
        for result in self._results.values():
            held[result.principal] = held.get(result.principal, 0) + len(result.contents)
        return held

    def _forget(self, key: tuple[str, str]) -> None:
        result = self._results.pop(key, None)
        if result is not None and result.account is not None:
            result.account.clear()


def result_uri(whole: bytes) -> str:
    """Return the name of a result."""
    return SCHEME + sha256(whole).hexdigest()[:32]
