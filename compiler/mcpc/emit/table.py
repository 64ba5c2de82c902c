"""A hash table on disk: a name among N is found with two reads.

    table:   (buckets + 1) offsets of 4 bytes, little end first; bucket i's entries are from offset i to offset i + 1
    entry:   1 byte length of the name, the name in UTF-8, 4 bytes offset and 4 bytes length of its record

A name's bucket is the number its bytes make, modulo the number of buckets (a prime near the number of names), so that
the reader needs no hash function; only a name of more than 255 bytes stands there as `sha256:` and its digest.  O(N) to
build.
"""

from __future__ import annotations

import hashlib
from itertools import count
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.emit.blob import Blob, Reference


LONGEST = 255


def prime_from(number: int) -> int:
    """Return the least prime that is at least `number`, and at least 3."""
    return next(n for n in count(max(3, number | 1), 2) if all(n % divisor for divisor in range(3, isqrt(n) + 1, 2)))


def key_of(name: str) -> bytes:
    """Return what stands for a name in the table."""
    key = name.encode("utf-8", "surrogateescape")
    return key if len(key) <= LONGEST else b"sha256:" + hashlib.sha256(key).hexdigest().encode()


def entry(name: str, place: Reference) -> bytes:
    """Return one entry."""
    key = key_of(name)
    return bytes([len(key)]) + key + place[0].to_bytes(4, "little") + place[1].to_bytes(4, "little")


def add_table(blob: Blob, records: Mapping[str, Reference]) -> tuple[int, int]:
    """Put a table of `records` into the blob; return the number of buckets (0 for none) and the table's offset."""
    if not records:
        return 0, 0
    buckets = prime_from(len(records))
    chains: list[list[bytes]] = [[] for _ in range(buckets)]
    for name, place in records.items():
        chains[int.from_bytes(key_of(name), "little") % buckets].append(entry(name, place))
    bodies = [b"".join(chain) for chain in chains]
    start, _ = blob.add(b"".join(bodies))
    offsets = [start]
    for body in bodies:
        offsets.append(offsets[-1] + len(body))
    return buckets, blob.add(b"".join(offset.to_bytes(4, "little") for offset in offsets))[0]
