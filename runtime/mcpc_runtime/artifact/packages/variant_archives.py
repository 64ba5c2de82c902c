"""Files of a native package for this machine, from an archive that has them for several Pythons (see `mcpc.pack`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from lzma import FORMAT_XZ, LZMADecompressor, LZMAError

CHUNK_BYTES = 1 << 20
Places = dict[str, tuple[int, int]]
"""The offset and the length of each file."""


def archive_reader(folder: str, places: Places, load: Callable[[], bytes]) -> Callable[[str], bytes]:
    """Return a function that reads an entry below a folder; the first call decompresses all of them, and keeps them."""
    files: dict[str, bytes] = {}
    lock = threading.Lock()

    def read_entry(entry: str) -> bytes:
        with lock:
            if not files:
                files.update(read_archive(load(), places))
        return files[entry.removeprefix(f"{folder}/")]

    return read_entry


def read_archive(packed: bytes, places: Places) -> dict[str, bytes]:
    """Return files by their places in what an archive decompresses to; no more of it is kept.  Raises ImportError."""
    parts: dict[str, bytearray] = {path: bytearray() for path in places}
    decompressor = LZMADecompressor(FORMAT_XZ)
    end = max(offset + length for offset, length in places.values())
    position, data = 0, packed
    while position < end and not decompressor.eof:
        try:
            chunk = decompressor.decompress(data, CHUNK_BYTES)
        except LZMAError as problem:
            raise ImportError(f"the server's file is damaged: {problem}") from None
        for path, (offset, length) in places.items():
            parts[path] += chunk[max(offset - position, 0) : max(offset + length - position, 0)]
        position, data = position + len(chunk), b""
        if decompressor.needs_input:
            break
    return {path: bytes(part) for path, part in parts.items()}
