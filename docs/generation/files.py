"""The fields of every file that mcpc reads, from the JSON Schemas that editors get."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from generation.markdown import code, plain, table
from mcpc.workbench.file_schemas import FILES, FileKind, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEPTH = 5
"""How deep fields are listed; below are content blocks, which are the protocol's."""
SAME = "-folder"
"""The ending of kinds whose definitions are those of the file without it."""


def all_files() -> str:
    """Return a section for each kind of file, with a table of its fields."""
    return "\n".join(one_file(kind) for kind in FILES if not kind.name.endswith(SAME))


def one_file(kind: FileKind) -> str:
    """Return the paths of a kind of file and its fields."""
    also = next((each.globs for each in FILES if each.name == kind.name + SAME), ())
    places = ", ".join(map(code, (*kind.globs, *also))) or "any path"
    rows = [
        (code(path), kind_of_value(field), "yes" if needed else "", plain(text_of(field)))
        for path, field, needed in fields("", schema_of(kind.name), DEPTH)
    ]
    return f"## {plain(kind.title)}\n\n{places}\n\n{table(('field', 'type', 'required', 'meaning'), rows)}"


def fields(prefix: str, schema: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yield the path, the schema and whether it is required of each field of an object, and of those in it."""
    for name, field in schema.get("properties", {}).items() if depth else ():
        path = f"{prefix}{name}"
        if not isinstance(field, dict):
            continue
        yield path, field, name in schema.get("required", ())
        yield from fields(f"{path}.", field, depth - 1)
        if isinstance(field.get("items"), dict):
            yield from fields(f"{path}[].", field["items"], depth - 1)


def kind_of_value(field: Mapping[str, Any]) -> str:
    """Return the type of a field, or its values."""
    if "enum" in field:
        return ", ".join(code(value if isinstance(value, str) else json.dumps(value)) for value in field["enum"])
    kinds = field.get("type", "")
    return plain(", ".join(kinds) if isinstance(kinds, list) else kinds)


def text_of(field: Mapping[str, Any]) -> str:
    """Return the description of a field on one line."""
    return " ".join(str(field.get("description", "")).split())
