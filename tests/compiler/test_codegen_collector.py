"""A value in which everything is wrong costs the collector no more than the first hundred complaints."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from support.schemas import compiled, functions

MILLION = 10**6


def items() -> list[int]:
    return [1] * MILLION


def members() -> dict[str, None]:
    return dict.fromkeys(map(str, range(MILLION)))


ROWS: list[tuple[Any, Callable[[], Any]]] = [
    ({"items": {"type": "string"}}, items),
    ({"prefixItems": [True], "items": {"type": "string"}}, items),
    ({"items": {"anyOf": [{"type": "string"}, {"minimum": 5}]}}, items),
    ({"additionalProperties": False}, members),
    ({"additionalProperties": {"type": "string"}}, members),
    ({"patternProperties": {"^": {"type": "string"}}}, members),
    ({"propertyNames": {"maxLength": 0}}, members),
    ({"unevaluatedProperties": False}, members),
    ({"unevaluatedItems": False}, items),
    ({"items": {"items": {"type": "string"}}}, lambda: [[1] * 1000] * 1000),
]


@pytest.mark.parametrize(("schema", "made"), ROWS, ids=range(len(ROWS)))
@pytest.mark.sampled(3)
def test_a_million_wrong_parts_are_not_all_looked_at(schema: Any, made: Callable[[], Any]) -> None:
    value = made()
    accepts, errors = functions(compiled(schema))
    assert not accepts(value)
    begun = time.process_time()
    assert 100 < len(errors(value)) < 110
    assert time.process_time() - begun < 0.3


def test_what_lies_behind_is_still_looked_at() -> None:
    schema = {"properties": {"a": {"items": {"type": "string"}}, "b": {"const": 1}}, "contains": {"const": 2}}
    found = functions(compiled(schema))[1]({"a": [1] * 1000, "b": 2})
    assert found[-1] == ("/b", "const", 1)


def test_alternatives_that_hold_each_other_are_not_all_compared() -> None:
    """Each level of the value doubles the comparisons: forty levels would take days."""
    branches = [{"properties": {"a": {"$ref": "#/$defs/t"}}, "required": [name]} for name in "bc"]
    accepts, errors = functions(compiled({"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": branches}}}))
    value: dict[str, Any] = {}
    for _ in range(40):
        value = {"a": value}
    begun = time.process_time()
    assert not accepts(value)
    assert errors(value) == [("", "work", None)]
    assert time.process_time() - begun < 3
    assert errors({"a": {}})[0][0] in ("", "/a")
