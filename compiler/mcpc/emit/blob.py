"""The blob: all precomputed bytes of a server in one entry, each distinct piece once.

Pieces are found by offset and length; equal pieces are stored once, so that five revisions of the same tool cost one.
O(total bytes) to build.
"""

from __future__ import annotations

Reference = tuple[int, int]


class Blob:
    """A growing sequence of pieces; `add` returns the reference to a piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._places: dict[bytes, Reference] = {}
        self._size = 0

    def add(self, piece: bytes) -> Reference:
        """Return the reference to `piece`, which is stored unless an equal one exists."""
        place = self._places.get(piece)
        if place is None:
            place = self._places[piece] = self._size, len(piece)
            self._pieces.append(piece)
            self._size += len(piece)
        return place

    def bytes(self) -> bytes:
        """Return the complete blob."""
        return b"".join(self._pieces)
