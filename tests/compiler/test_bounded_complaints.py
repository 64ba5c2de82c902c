"""A value in which everything is wrong costs the collector no more than the first hundred complaints."""

from __future__ import annotations

import time
from typing import Any

import pytest

from schemas import compiled, functions

MILLION = 10**6
ROWS: list[tuple[Any, Any]] = [
    ({"items": {"type": "string"}}, [1] * MILLION),
    ({"prefixItems": [True], "items": {"type": "string"}}, [1] * MILLION),
    ({"items": {"anyOf": [{"type": "string"}, {"minimum": 5}]}}, [1] * MILLION),
    ({"additionalProperties": False}, dict.fromkeys(map(str, range(MILLION)))),
    ({"additionalProperties": {"type": "string"}}, dict.fromkeys(map(str, range(MILLION)))),
    ({"patternProperties": {"^": {"type": "string"}}}, dict.fromkeys(map(str, range(MILLION)))),
    ({"propertyNames": {"maxLength": 0}}, dict.fromkeys(map(str, range(MILLION)))),
    ({"unevaluatedProperties": False}, dict.fromkeys(map(str, range(MILLION)))),
    ({"unevaluatedItems": False}, [1] * MILLION),
    ({"items": {"items": {"type": "string"}}}, [[1] * 1000] * 1000),
]


@pytest.mark.parametrize(("schema", "value"), ROWS, ids=range(len(ROWS)))
def test_a_million_wrong_parts_are_not_all_looked_at(schema: Any, value: Any) -> None:
    accepts, errors = functions(compiled(schema))
    assert not accepts(value)
    begun = time.perf_counter()
    assert 100 < len(errors(value)) < 110
    assert time.perf_counter() - begun < 0.3


def test_what_lies_behind_is_still_looked_at() -> None:
    schema = {"properties": {"a": {"items": {"type": "string"}}, "b": {"const": 1}}, "contains": {"const": 2}}
    found = functions(compiled(schema))[1]({"a": [1] * 1000, "b": 2})
    assert found[-1] == ("/b", "const", 1)
