"""Bytes as a resource's contents: a text where they are one, else a blob in base64."""

from __future__ import annotations

from mcpc_runtime.protocol.rows import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.jsonrpc import Json

PLAIN, BYTES = "text/plain", "application/octet-stream"
IS_TEXTUAL = "mcpc_runtime.protocol.media:is_textual"
TO_BASE64 = "binascii:b2a_base64"


def base64_of(data: bytes) -> str:
    """Return bytes in base64."""
    encoded: bytes = resolve(TO_BASE64)(data, newline=False)
    return encoded.decode()


def contents_of(uri: str, mime: str, data: bytes, end: bytes = b"") -> Json:
    """Return bytes as contents: a text if their type, as far as it is known, is one and they are UTF-8, else a blob.

    Of a text the `end` is left out that nearly every program puts there.
    """
    if resolve(IS_TEXTUAL)(mime):
        try:
            return {"uri": uri, "mimeType": mime or PLAIN, "text": data.removesuffix(end).decode()}
        except UnicodeDecodeError:
            pass
    return {"uri": uri, "mimeType": mime or BYTES, "blob": base64_of(data)}
