"""The blob: all precomputed bytes of a server in one entry, each distinct piece once.

Pieces are found by offset and length; equal pieces are stored once, so that five revisions of the same tool cost one.
O(total bytes) to build.

    table:   (buckets + 1) offsets of 4 bytes, little-endian; bucket i's entries are from offset i to offset i + 1
    entry:   1 byte length of the name, the name in UTF-8, 4 bytes offset and 4 bytes length of its record

A name's bucket is the number formed by its bytes, modulo the number of buckets (a prime near the number of names), so
that the reader needs no hash function; a name of more than 255 bytes is stored as `sha256:` and its digest. O(N) to
build.
"""

from __future__ import annotations

import hashlib
from itertools import count
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Reference = tuple[int, int]


class Blob:
    """A growing sequence of pieces; `add` returns the reference to a piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._places: dict[bytes, Reference] = {}
        self.size = 0

    def add(self, piece: bytes) -> Reference:
        """Return the reference to `piece`, which is stored unless an equal one exists."""
        place = self._places.get(piece)
        if place is None:
            place = self._places[piece] = self.size, len(piece)
            self._pieces.append(piece)
            self.size += len(piece)
        return place

    def bytes(self) -> bytes:
        """Return the complete blob."""
        return b"".join(self._pieces)


MAX_NAME_BYTES = 255
"""A longer name is stored as the digest of its bytes."""


def prime_from(number: int) -> int:
    """Return the least prime that is at least `number`, and at least 3."""
    return next(n for n in count(max(3, number | 1), 2) if all(n % divisor for divisor in range(3, isqrt(n) + 1, 2)))


def add_table(blob: Blob, records: Mapping[str, Reference]) -> tuple[int, int]:
    """Add a table of `records` to the blob; return the number of buckets (0 for none) and the table's offset."""
    if not records:
        return 0, 0
    buckets = prime_from(len(records))
    chains: list[list[bytes]] = [[] for _ in range(buckets)]
    for name, (offset, length) in records.items():
        key = name.encode("utf-8", "surrogateescape")
        if len(key) > MAX_NAME_BYTES:
            key = b"sha256:" + hashlib.sha256(key).hexdigest().encode()
        entry = bytes([len(key)]) + key + offset.to_bytes(4, "little") + length.to_bytes(4, "little")
        chains[int.from_bytes(key, "little") % buckets].append(entry)
    bodies = [b"".join(chain) for chain in chains]
    start, _ = blob.add(b"".join(bodies))
    # One more than there are buckets: a bucket ends where the next one begins.
    offsets = [start]
    for body in bodies:
        offsets.append(offsets[-1] + len(body))
    return buckets, blob.add(b"".join(offset.to_bytes(4, "little") for offset in offsets))[0]
