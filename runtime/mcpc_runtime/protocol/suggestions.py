"""Suggest corrections of nearly correct values: the nearest known name, or the obvious type conversion.

Only short names are compared, and only a limited number of them, so that the time is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcpc_runtime.protocol.display import KINDS, VALUE_WIDTH, display_value

NEAR_WIDTH = 40
NEAR_NAMES = 100
LITERALS = {"true": "boolean", "false": "boolean", "null": "null"}


def type_correction(value: object, types: Sequence[object]) -> str:
    """Return how to convert a value of the wrong type, if the conversion is obvious."""
    kind, text = KINDS.get(type(value)), display_value(value, VALUE_WIDTH // 2)
    if type(value) is str:
        return unquoting(value[: VALUE_WIDTH + 1].strip(), types) or (
            "" if "array" not in types else f"; make it [{text}]"
        )
    if kind is None:
        return ""
    if kind == "null":
        return "; leave it out if it is optional"
    if type(value) is list:
        is_one = len(value) == 1 and KINDS.get(type(value[0])) in types and not text.endswith("…")
        return f"; make it {text[1:-1]}" if is_one else ""
    if "array" in types:
        return f"; make it [{text}]"
    return f'; put it into quotes, "{text}"' if "string" in types and type(value) is not dict else ""


def unquoting(text: str, types: Sequence[object]) -> str:
    """Return how to convert a string into the type that it looks like."""
    opening = {"[": "array", "{": "object"}.get(text[:1])
    if opening in types:
        return f"; give the {opening} itself, not as text in quotes"
    whole, dot, fraction = text.removeprefix("-").partition(".")
    is_plain = text.isascii() and len(text) <= VALUE_WIDTH
    is_number = is_plain and whole.isdecimal() and (whole[0] != "0" or whole == "0")
    if is_number and ("number" in types or "integer" in types) and (fraction.isdecimal() if dot else True):
        return f"; write it without quotes, {text}" if "number" in types or not dot else ""
    return f"; write it without quotes, {text.lower()}" if LITERALS.get(text.lower()) in types else ""


def nearest_value(given: object, known: Sequence[object], *, by_words: bool = True) -> object:
    """Return the one of `known` that `given` was probably meant to be, or None.

    Strings are compared as names: without case and separators, then by edit distance, then (`by_words`) by their words.
    """
    text = unquoted_text(given)
    if not 0 < len(text) <= NEAR_WIDTH:
        return None
    candidates = [candidate for candidate in known[:NEAR_NAMES] if 0 < len(unquoted_text(candidate)) <= NEAR_WIDTH]
    limit = 0 if len(text) < 3 else max(len(text) // 3, 1)
    closest, smallest = None, limit + 1
    for candidate in candidates:
        is_name = type(candidate) is str and type(given) is str
        distance = (
            edit_distance(fold_name(text), fold_name(unquoted_text(candidate)), limit)
            if is_name
            else (text != unquoted_text(candidate)) * (limit + 1)
        )
        if distance < smallest:
            closest, smallest = candidate, distance
    return closest if closest is not None or not by_words else value_with_shared_words(given, candidates)


def value_with_shared_words(given: object, candidates: Sequence[object]) -> object:
    """Return the only candidate whose words are a subset or superset of the words of `given`."""
    given_words = name_words(given)
    words = [(candidate, name_words(candidate)) for candidate in candidates if given_words]
    alike = [candidate for candidate, shared in words if given_words < shared or given_words > shared > set()]
    return alike[0] if len(alike) == 1 else None


def unquoted_text(value: object) -> str:
    """Return the text of a simple value without quotes; an empty string for any other."""
    if type(value) is str:
        return value
    return display_value(value, NEAR_WIDTH) if type(value) in KINDS and type(value) not in (list, dict) else ""


def fold_name(name: str) -> str:
    """Return a name in lower case and without separators of words."""
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def name_words(name: object) -> set[str]:
    """Return the words of a name, whatever separates them."""
    text = name if type(name) is str else ""
    split = [f" {char}" if char.isupper() and text[at - 1 : at].islower() else char for at, char in enumerate(text)]
    return {*"".join(split).lower().replace("_", " ").replace("-", " ").replace(".", " ").split()}


def edit_distance(first: str, second: str, limit: int) -> int:
    """Return the number of inserted, deleted, replaced or swapped characters; more than `limit` if it is more."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    last_row: list[int] = []
    row = list(range(len(second) + 1))
    for row_number, char in enumerate(first, 1):
        row_before_last, last_row, row = last_row, row, [row_number]
        for column, other_char in enumerate(second, 1):
            cost = min(last_row[column] + 1, row[column - 1] + 1, last_row[column - 1] + (char != other_char))
            if row_number > 1 and column > 1 and char == second[column - 2] and first[row_number - 2] == other_char:
                cost = min(cost, row_before_last[column - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
