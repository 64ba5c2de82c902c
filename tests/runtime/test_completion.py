"""Completion: what fits what was typed, for what is there, and as much as the protocol allows."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.handlers.python.bindings.named import call_by_names


def test_functions_take_as_much_as_they_name() -> None:
    def one(value: str) -> list[str]:
        return [value]

    def both(context_arguments: dict, *, value: str) -> list[str]:
        return [value, *context_arguments]

    def every(**given: Any) -> list[str]:
        return list(given)

    def none() -> list[str]:
        return []

    def wrapped(*words: Any, **given: Any) -> list[str]:
        return one(*words, **given)

    wrapped.__wrapped__ = one  # type: ignore[attr-defined]
    given = {"value": "x", "context_arguments": {"a": "b"}}
    found = [call_by_names(function, given, {}) for function in (one, both, every, none, wrapped)]
    assert found == [["x"], ["x", "a"], ["value", "context_arguments"], [], ["x"]]
