"""Annotations taken apart: unions without some of their arms."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from mcpc_runtime.systems.fastmcp.engine.schema_types import without_arms


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, int),
        (int | bytes, int),
        (int | str | bytes, int | str),
        (int | Annotated[bytes, "x"], int),
        (Annotated[int | bytes, "x"], Annotated[int, "x"]),
        (list[bytes] | int, list[bytes] | int),
        (bytes, bytes),
    ],
    ids=str,
)
def test_arms_of_a_union_are_left_out(annotation: Any, expected: Any) -> None:
    assert without_arms(annotation, lambda arm: arm is bytes) == expected
