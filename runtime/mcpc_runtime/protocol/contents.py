"""Convert bytes into resource contents: text, or a blob in base64.

Convert content of a kind that a revision does not define into text with the same information.
"""

from __future__ import annotations

from binascii import b2a_base64

from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.media import is_textual

PLAIN, BYTES = "text/plain", "application/octet-stream"


def base64_of(data: bytes) -> str:
    """Return bytes in base64."""
    encoded: bytes = b2a_base64(data, newline=False)
    return encoded.decode()


def contents_of(uri: str, mime: str, data: bytes, end: bytes = b"") -> Json:
    """Return bytes as contents: text if their type is textual or unknown and they are UTF-8, else a blob.

    From text, `end` is removed: the newline that nearly every program writes at the end.
    """
    if is_textual(mime):
        try:
            return {"uri": uri, "mimeType": mime or PLAIN, "text": data.removesuffix(end).decode()}
        except UnicodeDecodeError:
            pass
    return {"uri": uri, "mimeType": mime or BYTES, "blob": base64_of(data)}


def downgrade_content(block: Json, known: tuple[str, ...]) -> Json:
    """Return `block`, or a text block instead if its kind is not among `known`."""
    kind = block.get("type") if type(block) is dict else None
    if type(block) is not dict or kind in known:
        return block
    details = [str(block[field]) for field in ("title", "name", "uri", "description", "mimeType") if block.get(field)]
    return {"type": "text", "text": f"[{kind}] {' - '.join(details)}".rstrip()}
