"""Put other bytes before a zip archive: its directory counts from the beginning of the file.

Importers find an archive behind a program even if its offsets count from the archive's own beginning, but not every
program that reads archives does.
"""

from __future__ import annotations

import struct

END = struct.Struct("<4s6xH2LH")
END_SIGNATURE = b"PK\5\6"
ROW = struct.Struct("<28x3H8xL")
ROW_LENGTH, OFFSET_PLACE = 46, 42
LIMIT = 1 << 32


def replace_prefix(archive: bytes, prefix: bytes) -> bytes:
    """Return an archive with `prefix` in place of what is before its first entry."""
    signature, count, size, start, comment = END.unpack_from(archive, len(archive) - END.size)
    if (signature, comment, start + size) != (END_SIGNATURE, 0, len(archive) - END.size):
        raise ValueError("not a zip archive as mcpc writes it")
    offsets = directory_offsets(archive, start, count)
    first = min((offset for _, offset in offsets), default=start)
    moved = len(prefix) - first
    if len(archive) + moved >= LIMIT:
        raise ValueError("an archive of 4 GiB or more is not supported")
    changed = bytearray(archive)
    for place, offset in offsets:
        struct.pack_into("<L", changed, place, offset + moved)
    struct.pack_into("<L", changed, len(archive) - END.size + 16, start + moved)
    return prefix + bytes(changed[first:])


def directory_offsets(archive: bytes, start: int, count: int) -> list[tuple[int, int]]:
    """Return where the directory has the offset of each entry, and that offset."""
    found = []
    place = start
    for _ in range(count):
        name, extra, comment, offset = ROW.unpack_from(archive, place)
        found.append((place + OFFSET_PLACE, offset))
        place += ROW_LENGTH + name + extra + comment
    return found
