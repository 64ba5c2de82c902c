"""The syntaxes of files of keys and values, a row each: how a cursor is found, how a key and a value are written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.workbench.language_server.json_cursor import cursor_at
from mcpc.workbench.language_server.toml_cursor import cursor_in_toml, toml_key
from mcpc.workbench.language_server.yaml_cursor import cursor_in_frontmatter, cursor_in_yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.workbench.language_server.cursor import Cursor

    JsonSchema = dict[str, Any]

EMPTY_VALUES = {"string": '""', "object": "{}", "array": "[]"}
PLAIN = re.compile(r"[A-Za-z_/][\w./{}+-]*(?:[ :][\w./+-]+)*")
NOT_TEXT = re.compile(r"null|true|false|yes|no|on|off|y|n", re.IGNORECASE)
"""What a reader of YAML takes for something else than a text: that of YAML 1.1, too."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """`write_key` and `write_value` return None for what cannot be written there."""

    cursor_at: Callable[[str, int], Cursor | None]
    write_key: Callable[[Cursor, str, JsonSchema], str | None]
    write_value: Callable[[object], str | None]


def _empty_value(schema: JsonSchema) -> str:
    kind = schema.get("type")
    return EMPTY_VALUES.get(kind, "") if isinstance(kind, str) else ""


def _json_key(cursor: Cursor, name: str, schema: JsonSchema) -> str:
    return json.dumps(name) if cursor.has_colon else f"{json.dumps(name)}: {_empty_value(schema)}"


def _yaml_key(cursor: Cursor, name: str, schema: JsonSchema) -> str:
    is_nested = schema.get("type") in ("object", "array")
    return yaml_text(name) + ("" if cursor.has_colon else ":" if is_nested else ": ")


def yaml_value(value: object) -> str:
    """Return a value as YAML."""
    return yaml_text(value) if isinstance(value, str) else json.dumps(value)


def yaml_text(text: str) -> str:
    """Return a text as a scalar of YAML: without quotes where every reader takes it for a text."""
    is_plain = PLAIN.fullmatch(text) and not NOT_TEXT.fullmatch(text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _toml_key(cursor: Cursor, name: str, schema: JsonSchema) -> str | None:
    key = toml_key(name)
    is_list = schema.get("type") == "array" and schema.get("items", {}).get("type") == "object"
    is_table = schema.get("type") == "object"
    if cursor.header:
        return key if is_table or (is_list and cursor.header == "[[") else None
    if cursor.table is not None and (is_table or is_list):
        return f"[[{cursor.table}{key}]]" if is_list else f"[{cursor.table}{key}]"
    return key if cursor.has_colon else f"{key} = {_empty_value(schema)}"


def _toml_value(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


YAML = Syntax(cursor_in_yaml, _yaml_key, yaml_value)
SYNTAXES = {
    "json": Syntax(cursor_at, _json_key, json.dumps),
    "yaml": YAML,
    "yml": YAML,
    "toml": Syntax(cursor_in_toml, _toml_key, _toml_value),
    "md": Syntax(cursor_in_frontmatter, _yaml_key, yaml_value),
}
"""The syntax of a file, by the ending of its name; of a Markdown file, that of its frontmatter."""


def syntax_of(path: str) -> Syntax | None:
    """Return the syntax of a file of keys and values."""
    return SYNTAXES.get(path.rpartition(".")[2])
