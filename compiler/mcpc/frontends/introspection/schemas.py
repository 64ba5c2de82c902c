"""JSON Schemas of a function's parameters and result, as pydantic describes their types.

Runs in the process of the project.  Titles that only repeat a name are omitted: they use a model's tokens.
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

from mcpc.frontends.introspection.inlining import inline_definitions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NOTHING = inspect.Parameter.empty
LISTS = (list, tuple, Sequence, Collection, Iterable)
WRAPPED_KEY = "x-fastmcp-wrap-result"
"""The key that tells clients that the value of `result` is the whole result."""
NO_SCHEMA_ERRORS = (
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
"""Exceptions for a type without a schema: by pydantic, and by types that define their own."""


class UntitledSchemas(GenerateJsonSchema):
    """Schemas in which no parameter and no field has a title that only repeats its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Give no field a title."""
        return False


def without_class_titles(schema: dict[str, Any], name: str = "") -> dict[str, Any]:
    """Return a schema without titles that are only the names of classes."""
    for key, definition in schema.get("$defs", {}).items():
        without_class_titles(definition, key)
    if schema.get("title") == name:
        del schema["title"]
    return schema


def parameter_schema(parameters: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the schema of arguments: each parameter with its hint and its default (`NOTHING` for none)."""

    def stand_in(**_: Any) -> None:
        """Have the signature that the schema is of."""

    rows = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=with_description(hint), default=default)
        for name, (hint, default) in parameters.items()
    ]
    shape: Any = stand_in
    shape.__signature__ = inspect.Signature(rows)
    shape.__annotations__ = {row.name: row.annotation for row in rows}
    made = inline_definitions(without_class_titles(TypeAdapter(shape).json_schema(schema_generator=UntitledSchemas)))
    first = {"type": "object", "properties": made.pop("properties", {})}
    return {**first, **{key: made[key] for key in sorted(made, key=ORDER.index) if key != "type"}}


ORDER = ["type", "required", "additionalProperties", "$defs"]


def with_description(hint: Any) -> Any:
    """Return a hint in which the text of `Annotated[str, "text"]` is its description."""
    if typing.get_origin(hint) is not Annotated:
        return hint
    texts = [part for part in hint.__metadata__ if isinstance(part, str)]
    if not texts or any(isinstance(part, FieldInfo) and part.description for part in hint.__metadata__):
        return hint
    return Annotated[hint, Field(description=texts[0])]


def result_schema(hint: Any) -> tuple[dict[str, Any] | None, bool]:
    """Return the schema of a function's result, or None, and whether the result is wrapped in `result`.

    A result with a schema is an object in all revisions that have output schemas: any other value is wrapped.
    """
    if is_uninformative(hint):
        return None, False
    made = TypeAdapter(hint).json_schema(mode="serialization", by_alias=False, schema_generator=UntitledSchemas)
    without_class_titles(made, getattr(hint, "__name__", ""))
    definitions = made.pop("$defs", {})
    target = made
    while set(target) == {"$ref"}:
        target = definitions[target["$ref"].removeprefix("#/$defs/")]
    is_object = target.get("type") == "object"
    root = target if is_object else {"type": "object", "properties": {"result": made}, "required": ["result"]}
    used = {"$defs": definitions} if '"$ref"' in json.dumps(root) else {}
    return inline_definitions(
        {"type": "object", **root, **used, **({} if is_object else {WRAPPED_KEY: True})}
    ), not is_object


def is_uninformative(hint: Any) -> bool:
    """Tell whether a result's hint gives a client no information, or contains bytes, which JSON does not have."""
    if hint in (NOTHING, None, type(None), Any, object) or is_or_has_bytes(hint):
        return True
    kind = typing.get_origin(hint) or hint
    items = [item for item in typing.get_args(hint) if item is not ...]
    return kind in LISTS and all(item in (Any, object) for item in items) and (len(items) < 2)


def is_or_has_bytes(hint: Any) -> bool:
    """Tell whether a hint is bytes, or a union with them."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType, Annotated):
        return any(map(is_or_has_bytes, typing.get_args(hint)))
    return hint is bytes


def resolve_annotation(function: Callable[..., Any], annotation: Any) -> Any:
    """Return the type of an annotation, which may be a string."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(holder, function.__globals__, include_extras=True)["it"]
