"""The interface of what counts the bytes that are kept for something; only type checkers import this module."""

from __future__ import annotations

from typing import Protocol


class Account(Protocol):
    """The bytes that are kept for one call or conversation, and the right to refuse more."""

    def charge(self, size: int) -> bool:
        """Keep so many bytes more; False if there is no room for them."""
        ...

    def release(self, size: int) -> None:
        """Keep so many bytes less."""

    def clear(self) -> None:
        """Keep nothing."""

    def end(self) -> None:
        """Keep nothing, now and later."""
