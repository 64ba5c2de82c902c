"""Content a revision does not know becomes text that says the same: no client is sent a kind it cannot read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.jsonrpc import Json


def downgrade(block: Json, known: tuple[str, ...]) -> Json:
    """Return `block`, or a text block in its place if its kind is not among `known`."""
    kind = block.get("type") if type(block) is dict else None
    if type(block) is not dict or kind in known:
        return block
    words = [str(block[field]) for field in ("title", "name", "uri", "description", "mimeType") if block.get(field)]
    return {"type": "text", "text": f"[{kind}] {' - '.join(words)}".rstrip()}
