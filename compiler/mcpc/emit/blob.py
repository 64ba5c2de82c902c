"""The blob: every precomputed byte of a server in one entry, each distinct piece once.

Pieces are found by offset and length; equal pieces share their place, so five revisions that show the same tool cost
one.  O(total bytes) to build.
"""

from __future__ import annotations

Reference = tuple[int, int]


class Blob:
    """A growing sequence of pieces; `add` returns where a piece is."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._places: dict[bytes, Reference] = {}
        self._size = 0

    def add(self, piece: bytes) -> Reference:
        """Return the place of `piece`, which is put in unless an equal one is there."""
        place = self._places.get(piece)
        if place is None:
            place = self._places[piece] = self._size, len(piece)
            self._pieces.append(piece)
            self._size += len(piece)
        return place

    def bytes(self) -> bytes:
        """Return all of it."""
        return b"".join(self._pieces)
