"""Functions whose annotations are text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from frameworks import Context, Image, TextContent  # the frameworks resolve it
from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Sequence


class Later(BaseModel):
    inner: Inner
    count: int | None = None


class Inner(BaseModel):
    x: int


def text_simple(a: int, b: str = "x", *, c: float = 1.0) -> str:
    """Text."""
    return b


def text_model(later: Later, more: list[Inner] | None = None) -> Later:
    return later


def text_context(a: Annotated[int, Field(description="A")], ctx: Context, b: Literal["x"] = "x") -> dict[str, Any]:
    return {}


def text_annotated(a: Annotated[int, "Text"], *, b: Annotated[str, "More"] = "b") -> list[Inner]:
    return []


def text_none() -> None:
    pass


def text_image() -> Image:
    raise NotImplementedError


def text_contents() -> list[TextContent]:
    return []


def text_unknown(a: Sequence[int]) -> int:
    return 0


def text_unknown_return(a: int) -> Sequence[int]:
    return []


def text_message(a: str, b: int, c: list[int], d: Literal["x"], e: Any = None, f: Annotated[str, "F"] = "") -> str:
    return a


FUNCTIONS = [value for name, value in list(globals().items()) if name.startswith("text_")]
ROWS: list[tuple[str, str, Any, dict[str, Any]]] = [
    *(("tool", each.__name__, each, {}) for each in FUNCTIONS if each is not text_message),
    ("prompt", "text_message", text_message, {}),
]
"""The components: kind, name in the recorded answers, function, options."""
