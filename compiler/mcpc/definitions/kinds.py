"""What the kinds of JSON values are called in a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.sources import Node

WORDS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}


def mismatch(label: str, wanted: str, node: Node) -> str:
    """Return the message for a value of the wrong kind: "`label` must be an object, found an array"."""
    return f"{label} must be {WORDS[wanted]}, found {WORDS[node.kind]}"
