"""The JSON Schema of a function's parameters, and of what it returns, as pydantic describes their types.

Runs in the process of the project.  Titles that only repeat a name are left out: they cost a model's attention.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaError

from mcpc.introspection.inlining import inlined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NOTHING = inspect.Parameter.empty
LISTS = (list, tuple, Sequence, Collection, Iterable)
WRAPPED = "x-fastmcp-wrap-result"
"""The key by which clients know that the value of `result` is the whole result."""
IMPOSSIBLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    RuntimeError,
    SchemaError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What is raised for a type that has no schema: by pydantic, and by types that say their own."""


class Schemas(GenerateJsonSchema):
    """Schemas in which no parameter and no field has a title that only repeats its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Give no field a title."""
        return False


def untitled(schema: dict[str, Any], name: str = "") -> dict[str, Any]:
    """Return a schema without the titles that are only the names of classes."""
    for key, definition in schema.get("$defs", {}).items():
        untitled(definition, key)
    if schema.get("title") == name:
        del schema["title"]
    return schema


def of_parameters(parameters: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the schema of arguments: each parameter with its hint and its default (`NOTHING` for none)."""

    def stand_in(**_: Any) -> None:
        """Have the signature that the schema is of."""

    rows = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=documented(hint), default=default)
        for name, (hint, default) in parameters.items()
    ]
    shape: Any = stand_in
    shape.__signature__ = inspect.Signature(rows)
    shape.__annotations__ = {row.name: row.annotation for row in rows}
    made = inlined(untitled(TypeAdapter(shape).json_schema(schema_generator=Schemas)))
    first = {"type": "object", "properties": made.pop("properties", {})}
    return {**first, **{key: made[key] for key in sorted(made, key=ORDER.index) if key != "type"}}


ORDER = ["type", "required", "additionalProperties", "$defs"]


def documented(hint: Any) -> Any:
    """Return a hint in which `Annotated[str, "text"]` says that the text describes."""
    if typing.get_origin(hint) is not Annotated:
        return hint
    texts = [part for part in hint.__metadata__ if isinstance(part, str)]
    if not texts or any(isinstance(part, FieldInfo) and part.description for part in hint.__metadata__):
        return hint
    return Annotated[hint, Field(description=texts[0])]


def of_result(hint: Any) -> tuple[dict[str, Any] | None, bool]:
    """Return the schema of what a function returns, if it says something, and whether it is the one of `result`.

    A result with a schema is an object in all revisions that know one: anything else is put into one.
    """
    if says_nothing(hint):
        return None, False
    made = TypeAdapter(hint).json_schema(mode="serialization", by_alias=False, schema_generator=Schemas)
    untitled(made, getattr(hint, "__name__", ""))
    definitions = made.pop("$defs", {})
    target = made
    while set(target) == {"$ref"}:
        target = definitions[target["$ref"].removeprefix("#/$defs/")]
    is_object = target.get("type") == "object"
    root = target if is_object else {"type": "object", "properties": {"result": made}, "required": ["result"]}
    used = {"$defs": definitions} if '"$ref"' in json.dumps(root) else {}
    return inlined({"type": "object", **root, **used, **({} if is_object else {WRAPPED: True})}), not is_object


def says_nothing(hint: Any) -> bool:
    """Tell whether a hint of a result tells a client nothing, or names bytes, which JSON has none of."""
    if hint in (NOTHING, None, type(None), Any, object) or is_or_has_bytes(hint):
        return True
    kind = typing.get_origin(hint) or hint
    items = [item for item in typing.get_args(hint) if item is not ...]
    return kind in LISTS and all(item in (Any, object) for item in items) and (len(items) < 2)


def is_or_has_bytes(hint: Any) -> bool:
    """Tell whether a hint is bytes, or a choice with them."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType, Annotated):
        return any(map(is_or_has_bytes, typing.get_args(hint)))
    return hint is bytes


def resolved(function: Callable[..., Any], annotation: Any) -> Any:
    """Return what an annotation means, which may be a text."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(holder, function.__globals__, include_extras=True)["it"]
