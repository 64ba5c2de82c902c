"""A named file of the archive, as emitters return it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """One entry: its name in the archive, its bytes, and whether it is Python with bytecode beside its source."""

    name: str
    data: bytes
    python: bool = False
