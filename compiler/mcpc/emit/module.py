"""What an emitter makes: a named part of the archive."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Module:
    """One entry: its name in the archive, its bytes, and whether it is Python to be compiled beside its source."""

    name: str
    data: bytes
    python: bool = False
