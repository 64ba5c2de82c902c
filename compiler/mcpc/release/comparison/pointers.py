"""Places in schemas: JSON Pointers, what people call them, and the schemas that references lead to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.placed_schemas import Document

if TYPE_CHECKING:
    Json = Any

MAX_SHOWN = 60
MAX_REFERENCES = 20


def escaped(name: str) -> str:
    """Return a name as a part of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def label(pointer: str) -> str:
    """Return the place of a pointer as people read it: `a[].b`; for the whole schema what it is of."""
    steps = pointer.split("/")[1:]
    text, at = "", 1
    while at < len(steps):
        if steps[at] == "properties" and at + 1 < len(steps):
            text += "." + steps[at + 1].replace("~1", "/").replace("~0", "~")
            at += 1
        elif steps[at] in ("items", "prefixItems"):
            text += "[]"
        at += 1
    whole = "arguments" if steps[0] == "inputSchema" else "results"
    return f"`{text.removeprefix('.')}`" if text else whole


def quoted_value(value: Json) -> str:
    """Return a value as JSON, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '…'}`"


def resolved(schema: Json, root: Json) -> Json:
    """Return a schema with the keywords of what `$ref` leads to; its own come first."""
    document = Document(root)
    for _ in range(MAX_REFERENCES):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            return schema
        target = document.target(schema["$ref"])
        own = {name: each for name, each in schema.items() if name != "$ref"}
        if target is None or (own and not isinstance(target, dict)):
            return schema
        schema = {**target, **own} if isinstance(target, dict) else target
    return schema
