"""Functions of the C library: those that the runtime asks for belong to glibc, and are missing here."""

from __future__ import annotations

__all__ = ["address_of", "call"]


def address_of(name: str) -> int:
    """Raise OSError: there is no such function."""
    raise OSError(f"there is no {name} on this system")


def call(address: int, arguments: tuple[object, ...]) -> int:
    """Raise OSError: there is no address to call."""
    raise OSError(f"there is no function at {address:#x}")
