"""Display untrusted values as text: shortened JSON without line breaks, hidden or reordering characters.

Only the displayed part of a value is read. This module imports nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcpc_runtime.protocol.jsonrpc import Json

VALUE_WIDTH = 60
LIST_WIDTH = 200
LARGE_NUMBER = 10**VALUE_WIDTH
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
LITERALS = {"None": "null", "True": "true", "False": "false"}
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
UNITS = {dict: "property", list: "item", str: "character"}
PLURALS = {"property": "properties"}


def kind_of(value: object, *, sized: bool = False) -> str:
    """Return the kind of a value, and its size if `sized`."""
    kind = KINDS.get(type(value), "unknown")
    if sized and (type(value) is dict or type(value) is list or type(value) is str):
        return f"{kind} of {quantity(len(value), UNITS[type(value)])}"
    return kind


def quantity(number: object, unit: str) -> str:
    """Return a number with its unit."""
    return f"{display_value(number)} {unit if number == 1 else PLURALS.get(unit, f'{unit}s')}"


def list_names(unit: str, names: Sequence[str], most: int) -> str:
    """Return at most `most` names after their unit."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{unit if len(names) == 1 else PLURALS[unit]} {', '.join(names[:most])}{rest}"


def list_values(values: Sequence[object], separator: str = ", ") -> str:
    """Return the values as JSON, as many as fit into a line."""
    text = ""
    for number, value in enumerate(values):
        text += (separator if number else "") + display_value(value)
        if len(text) > LIST_WIDTH and number + 1 < len(values):
            return f"{text}, … ({len(values)} in all)"
    return text or "none"


def json_or_text(value: object) -> Json:
    """Return a value if its JSON is short, else the beginning of its JSON as text."""
    text = display_value(value, LIST_WIDTH)
    is_whole = len(text) <= LIST_WIDTH and MANY_DIGITS not in text
    return value if is_whole else text  # type: ignore[return-value]


def display_value(value: object, width: int = VALUE_WIDTH) -> str:
    """Return a value as JSON, cut off when it becomes too long."""
    text = "".join(display_parts(value, width))
    return text if len(text) <= width else f"{text[:width]}…"


def display_parts(value: object, width: int) -> list[str]:
    """Return the beginning of the JSON of a value, little more than `width` characters."""
    if type(value) is str:
        # One character more than is shown tells that the text was cut.
        return ['"', escape_text(value[: width + 1], ESCAPES), '"']
    # Python refuses to write integers of very many digits, since that takes quadratic time.
    if type(value) is int and not -LARGE_NUMBER < value < LARGE_NUMBER:
        return [MANY_DIGITS]
    if type(value) is int or type(value) is float:
        return [repr(value)]
    if type(value) is not list and type(value) is not dict:
        return [LITERALS.get(repr(value), "?")]
    parts = ["[" if type(value) is list else "{"]
    for number, item in enumerate(value):
        parts += [", "] if number else []
        if type(value) is dict:
            parts += [*display_parts(item, width), ": "]
            item = value[item]
        remaining = width - sum(map(len, parts))
        if remaining < 0:
            return parts
        parts += display_parts(item, remaining)
    return [*parts, "]" if type(value) is list else "}"]


def escape_text(text: str, escapes: dict[str, str] | None = None) -> str:
    """Return the text with all characters escaped that break lines, are hidden or reorder text."""
    characters = [(escapes or {}).get(char) or (char if char.isprintable() else f"\\u{ord(char):04x}") for char in text]
    return "".join(characters)
