"""Convert content of a kind that a revision does not define into text with the same information."""

from __future__ import annotations

from mcpc_runtime.protocol.jsonrpc import Json


def downgrade_content(block: Json, known: tuple[str, ...]) -> Json:
    """Return `block`, or a text block instead if its kind is not among `known`."""
    kind = block.get("type") if type(block) is dict else None
    if type(block) is not dict or kind in known:
        return block
    details = [str(block[field]) for field in ("title", "name", "uri", "description", "mimeType") if block.get(field)]
    return {"type": "text", "text": f"[{kind}] {' - '.join(details)}".rstrip()}
