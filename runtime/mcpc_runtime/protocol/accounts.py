"""The interface of an account of stored bytes; only type checkers import this module."""

from __future__ import annotations

from typing import Protocol


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
