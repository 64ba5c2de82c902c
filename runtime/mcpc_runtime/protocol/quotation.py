"""Untrusted values as text: JSON, shortened, in which nothing breaks its line, hides or reorders it.

No more of a value is looked at than is shown.  This module imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc_runtime.protocol.jsonrpc import Json

VALUE_WIDTH = 60
LIST_WIDTH = 200
LARGE = 10**VALUE_WIDTH
MANY_DIGITS = "a number of very many digits"

KINDS = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
WORDS = {"None": "null", "True": "true", "False": "false"}
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
UNITS = {dict: "property", list: "item", str: "character"}
PLURALS = {"property": "properties"}


def kind_of(value: object, *, sized: bool = False) -> str:
    """Return what kind of value this is, and how much of it there is."""
    kind = KINDS.get(type(value), "unknown")
    if sized and (type(value) is dict or type(value) is list or type(value) is str):
        return f"{kind} of {counted(len(value), UNITS[type(value)])}"
    return kind


def counted(number: object, unit: str) -> str:
    """Return a number with what it counts."""
    return f"{shown(number)} {unit if number == 1 else PLURALS.get(unit, f'{unit}s')}"


def named(unit: str, names: Sequence[str], most: int) -> str:
    """Return names, at most so many, after what they are the names of."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{unit if len(names) == 1 else PLURALS[unit]} {', '.join(names[:most])}{more}"


def listed(values: Sequence[object], separator: str = ", ") -> str:
    """Return the values as JSON, as many as fit into a line."""
    text = ""
    for number, value in enumerate(values):
        text += (separator if number else "") + shown(value)
        if len(text) > LIST_WIDTH and number + 1 < len(values):
            return f"{text}, … ({len(values)} in all)"
    return text or "none"


def kept(value: object) -> Json:
    """Return a value if its JSON is short, else the beginning of that as text."""
    text = shown(value, LIST_WIDTH)
    is_whole = len(text) <= LIST_WIDTH and MANY_DIGITS not in text
    return value if is_whole else text  # type: ignore[return-value]


def shown(value: object, width: int = VALUE_WIDTH) -> str:
    """Return a value as JSON, cut off when it becomes too long."""
    text = "".join(pieces(value, width))
    return text if len(text) <= width else f"{text[:width]}…"


def pieces(value: object, room: int) -> list[str]:
    """Return the beginning of the JSON of a value: nothing is made that lies far behind `room` characters."""
    if type(value) is str:
        return ['"', plain(value[: room + 1], ESCAPES), '"']
    if type(value) is int and not -LARGE < value < LARGE:
        return [MANY_DIGITS]
    if type(value) is int or type(value) is float:
        return [repr(value)]
    if type(value) is not list and type(value) is not dict:
        return [WORDS.get(repr(value), "?")]
    found = ["[" if type(value) is list else "{"]
    for number, item in enumerate(value):
        found += [", "] if number else []
        if type(value) is dict:
            found += [*pieces(item, room), ": "]
            item = value[item]
        rest = room - sum(map(len, found))
        if rest < 0:
            return found
        found += pieces(item, rest)
    return [*found, "]" if type(value) is list else "}"]


def plain(text: str, escapes: dict[str, str] | None = None) -> str:
    """Return the text with everything escaped that would break its line, hide or reorder it."""
    found = [(escapes or {}).get(char) or (char if char.isprintable() else f"\\u{ord(char):04x}") for char in text]
    return "".join(found)
