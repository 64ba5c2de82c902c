"""Names of the kinds of JSON values, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.reading import Node

KIND_NAMES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}


def kind_mismatch(label: str, wanted: str, node: Node) -> str:
    """Return the message for a value of the wrong kind: "`label` must be an object, found an array"."""
    return f"{label} must be {KIND_NAMES[wanted]}, found {KIND_NAMES[node.kind]}"
