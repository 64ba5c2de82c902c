"""A lock's table as text: keys in the order of PEP 751, one line a file, the same bytes for the same table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MULTILINE = frozenset({"environments", "wheels", "targets"})
"""Lists with a line for each item."""


def lock_text(table: Mapping[str, Any]) -> str:
    """Return the text of a lock's table; its keys keep their order."""
    blocks = [_pairs({key: value for key, value in table.items() if key not in ("packages", "tool")})]
    blocks += [f"[[packages]]\n{_pairs(row)}" for row in table["packages"]]
    blocks += [f"[tool.{name}]\n{_pairs(value)}" for name, value in table.get("tool", {}).items()]
    if not table["packages"]:
        blocks[0] += "packages = []\n"
    return "\n".join(blocks)


def _pairs(row: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_listed(value) if key in MULTILINE else _value(value)}\n" for key, value in row.items())


def _listed(values: list[Any]) -> str:
    return "[\n" + "".join(f"    {_value(value)},\n" for value in values) + "]"


def _value(value: Any) -> str:
    """Return a value in one line: a string as a basic string, whose escapes are those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(_members(value)) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _members(table: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{key} = {_value(value)}" for key, value in table.items())
