"""An image and a sound, made from nothing, and bytes as content blocks hold them."""

from __future__ import annotations

import base64
import struct
import zlib


def red_pixel() -> bytes:
    """Return a PNG of one red pixel."""
    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0\xff\0\0")), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in parts)


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return one part of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def silence() -> bytes:
    """Return a WAV of two silent samples."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", 2) + b"\x80\x80"
    return b"RIFF" + struct.pack("<I", len(body)) + body


def encoded(data: bytes) -> str:
    """Return bytes as content blocks hold them."""
    return base64.b64encode(data).decode()
