"""The values of a pipeline: rows of its plan, and what they are in one call.

    ("at", ("f", "days", "0"))     a JSON Pointer, by its tokens; the first names what it points into
    ("constant", value)
    ("members", (("name", row), …))
    ("items", (row, …))

What is not there is ABSENT: a member or an item without a value is left out.
"""

from __future__ import annotations

from typing import Any

from mcpc_runtime.protocol.effects import ABSENT
from mcpc_runtime.protocol.jsonrpc import Json

Scope = dict[str, Json]
"""What pointers point into: `arguments`, `item` within a step for each item, and the results of steps by name."""
Tokens = tuple[str, ...]
Row = tuple[str, Any]
Condition = tuple[Tokens, str, Json]


def value_at(tokens: Tokens, scope: Scope) -> object:
    """Return the value that a pointer points to."""
    value: Json = scope
    for token in tokens:
        if type(value) is dict and token in value:
            value = value[token]
        elif type(value) is list and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return ABSENT
    return value


def value_of(row: Row, scope: Scope) -> Any:
    """Return the value of a row."""
    kind, content = row
    if kind == "at":
        return value_at(content, scope)
    if kind == "members":
        members = ((name, value_of(member, scope)) for name, member in content)
        return {name: value for name, value in members if value is not ABSENT}
    if kind == "items":
        return [value for value in (value_of(item, scope) for item in content) if value is not ABSENT]
    return content


def holds(condition: Condition | None, scope: Scope) -> bool:
    """Tell whether a condition holds; none always does."""
    if condition is None:
        return True
    tokens, test, expected = condition
    value = value_at(tokens, scope)
    if test == "exists":
        return (value is not ABSENT) is expected
    return value is not ABSENT and is_same(value, expected)


def is_same(one: object, other: object) -> bool:
    """Tell whether two values are equal as JSON: 1 is 1.0, and not true."""
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(is_same, one, other))
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return one == other and (type(one) is bool) is (type(other) is bool)
