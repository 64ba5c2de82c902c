"""Parameters whose author has pydantic call a function with the value as the client sent it.

Such a function (`BeforeValidator`, `PlainValidator`, `WrapValidator`, a validator of a model with `mode="before"`) may
accept what the schema does not describe, so that nothing may be refused before it.  Runs in the process of the project.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from mcpc.frontends.introspection.schemas import NO_SCHEMA_ERRORS

RAW = frozenset({"function-before", "function-plain", "function-wrap"})
OURS = ("annotated_types", "pydantic", "pydantic_core")
"""The packages whose own functions accept what their schemas describe."""
NOT_FOR_VALUES = ("metadata", "serialization")


def takes_raw_value(hint: Any) -> bool:
    """Tell whether a function of the project is called with the raw value, or with a part of it."""
    try:
        waiting: list[Any] = [TypeAdapter(hint).core_schema]
    except NO_SCHEMA_ERRORS:
        return False  # reported with its schema
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("type") in RAW and is_of_project(part.get("function")):
                return True
            waiting += (value for key, value in part.items() if key not in NOT_FOR_VALUES)
        elif isinstance(part, list | tuple):
            waiting += part
    return False


def is_of_project(row: Any) -> bool:
    """Tell whether a function in a schema of pydantic does not belong to pydantic."""
    function: Any = row.get("function") if isinstance(row, dict) else row
    while hasattr(function, "func"):
        function = function.func
    return str(getattr(function, "__module__", "")).partition(".")[0] not in OURS
