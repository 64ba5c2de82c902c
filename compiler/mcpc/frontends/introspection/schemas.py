"""JSON Schemas of a function's parameters and result, as pydantic describes their types.

    {"properties": {"unit": {"$ref": "#/$defs/Unit"}}, "$defs": {"Unit": {"enum": ["C", "F"]}}}
    {"properties": {"unit": {"enum": ["C", "F"]}}}

Several clients cannot read a `$ref`.  The rule: a recursive definition is not inlined.  One that is used once is
inlined.  One that is used several times is inlined if the schema then has at most `MAX_INLINED_BYTES` bytes or
`MAX_GROWTH` times its size, the cheapest first.  Both schemas accept the same values.

Runs in the process of the project.  Titles that only repeat a name are omitted: they use a model's tokens.

Such a function (`BeforeValidator`, `PlainValidator`, `WrapValidator`, a validator of a model with `mode="before"`) may
accept what the schema does not describe, so that nothing may be refused before it.  Runs in the process of the project.
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

from mcpc.schema.graph import components, is_cycle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

if TYPE_CHECKING:
    Schema = dict[str, Any]


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
    # pydantic describes functions; this one gets the signature, so that no name becomes source text.
    shape: Any = stand_in
    shape.__signature__ = inspect.Signature(rows)
    shape.__annotations__ = {row.name: row.annotation for row in rows}
    made = inline_definitions(without_class_titles(TypeAdapter(shape).json_schema(schema_generator=UntitledSchemas)))
    first = {"type": "object", "properties": made.pop("properties", {})}
    return {**first, **{key: made[key] for key in sorted(made, key=ORDER.index) if key != "type"}}


# The keys that pydantic writes for a function that takes keywords only.
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
    # Of a model that contains itself, pydantic's schema is only a reference at the top.
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
    # A wrapper may be from another module, which does not have the names that the annotations mention.
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    # `get_type_hints` evaluates the annotations of an object, so one is made for a single annotation.
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(holder, function.__globals__, include_extras=True)["it"]


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
    # A `functools.partial` belongs to the module of what it calls, not to `functools`.
    while hasattr(function, "func"):
        function = function.func
    return str(getattr(function, "__module__", "")).partition(".")[0] not in OURS


MAX_INLINED_BYTES, MAX_GROWTH = 4096, 2
"""The maximum size of a schema with inlined definitions, in bytes of JSON, or as a multiple of its original size."""
MAX_DEPTH, MAX_INLINED = 60, 100
"""A schema that would be nested more deeply is not changed; so many definitions that are used several times go."""
PREFIX = "#/$defs/"
SCHEMA_KEYWORDS = frozenset(
    {
        *("additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"),
        *("unevaluatedItems", "unevaluatedProperties"),
    }
)
"""Keywords whose value is a schema."""
SCHEMA_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
SCHEMA_MAP_KEYWORDS = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is an object of schemas."""
ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
"""Keywords that do not validate: beside a `$ref` they replace those of the definition."""
PLACE_DEPENDENT = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$schema", "definitions"}
)
"""Keywords whose meaning depends on their place; a schema with one of them is not changed."""


def inline_definitions(schema: Schema) -> Schema:
    """Return a schema that accepts the same values with as few references as the rule allows."""
    if not isinstance(schema.get("$defs"), dict) or not _is_inlinable(schema):
        return schema
    try:
        uses = _uses(schema)
        # Moving a definition to its only use makes the schema no larger.
        made = _inline(schema, {name for name in _non_recursive(schema["$defs"]) if uses.get(name, 0) <= 1})
        bound = max(MAX_INLINED_BYTES, MAX_GROWTH * _size(schema))
        for _ in range(MAX_INLINED):
            cheapest = _cheapest(made, bound)
            if not cheapest:
                break
            made = _inline(made, {cheapest})
    # A chain of definitions, each in the next one, may be deeper than Python recurses.
    except RecursionError:
        return schema
    return schema if _is_deep(made) else made


def _size(schema: Any) -> int:
    return len(json.dumps(schema, ensure_ascii=False))


def _is_deep(schema: Schema) -> bool:
    level: list[Any] = [schema]
    for _ in range(MAX_DEPTH):
        holders = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [part for holder in holders for part in holder]
    return bool(level)


def _is_inlinable(schema: Schema) -> bool:
    """Tell whether every reference leads to one of the schema's definitions, and no subschema has an anchor."""
    known = {f"{PREFIX}{name}" for name in schema["$defs"]}
    for part in _subschemas(schema):
        if not PLACE_DEPENDENT.isdisjoint(part) or ("$defs" in part and part is not schema):
            return False
        if "$ref" in part and str(part["$ref"]) not in known:
            return False
    return True


def _subschemas(schema: Any) -> Iterator[Schema]:
    """Yield a schema and all its subschemas; `true` and `false` have none."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            for key, value in part.items():
                waiting += _children(key, value)


def _children(key: str, value: Any) -> list[Any]:
    if key in SCHEMA_KEYWORDS:
        return [value]
    if key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
        return value
    return list(value.values()) if key in SCHEMA_MAP_KEYWORDS and isinstance(value, dict) else []


def _uses(schema: Any) -> dict[str, int]:
    """Return how often each definition is referred to."""
    counts: dict[str, int] = {}
    for part in _subschemas(schema):
        if "$ref" in part:
            name = part["$ref"].removeprefix(PREFIX)
            counts[name] = counts.get(name, 0) + 1
    return counts


def _non_recursive(definitions: Mapping[str, Schema]) -> set[str]:
    """Return the definitions that are not recursive."""
    edges = {name: tuple(_uses(definition)) for name, definition in definitions.items()}
    return {name for group in components(edges) if not is_cycle(group, edges) for name in group}


def _cheapest(schema: Schema, bound: int) -> str:
    """Return the definition whose inlining costs least, if the schema stays within its bound, or an empty string."""
    definitions = schema.get("$defs", {})
    uses = _uses(schema)
    # One copy is there already, in `$defs`. With the name, definitions of one cost have a fixed order.
    costs = sorted(((uses.get(name, 0) - 1) * _size(definitions[name]), name) for name in _non_recursive(definitions))
    return costs[0][1] if costs and _size(schema) + costs[0][0] <= bound else ""


def _inline(schema: Schema, names: set[str]) -> Schema:
    """Return a schema in which some definitions replace their references."""
    definitions = schema["$defs"]
    targets = {name: definitions[name] for name in names}
    kept = {name: definition for name, definition in definitions.items() if name not in names}
    made: Schema = _replaced({**schema, "$defs": kept}, targets)
    return made if kept else {key: value for key, value in made.items() if key != "$defs"}


def _replaced(schema: Any, targets: Mapping[str, Schema]) -> Any:
    """Return a schema with each of the targets in the place of every reference to it."""
    if not isinstance(schema, dict):
        return schema
    made = {key: _mapped(key, value, lambda part: _replaced(part, targets)) for key, value in schema.items()}
    made = _without_mapping(made, targets)
    name = made["$ref"].removeprefix(PREFIX) if "$ref" in made else ""
    return merge_reference(made, _replaced(targets[name], targets)) if name in targets else made


def _mapped(key: str, value: Any, change: Callable[[Any], Any]) -> Any:
    if key in SCHEMA_KEYWORDS:
        return change(value)
    if key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
        return [change(part) for part in value]
    if key in SCHEMA_MAP_KEYWORDS and isinstance(value, dict):
        return {name: change(part) for name, part in value.items()}
    return value


def _without_mapping(schema: Schema, targets: Mapping[str, Schema]) -> Schema:
    """Return a schema without an OpenAPI `discriminator` that maps to an inlined definition."""
    said = schema.get("discriminator")
    mapping = said.get("mapping") if isinstance(said, dict) else None
    gone = {f"{PREFIX}{name}" for name in targets}
    if not isinstance(mapping, dict) or gone.isdisjoint(map(str, mapping.values())):
        return schema
    # The reference in the mapping would lead to nothing.
    return {key: value for key, value in schema.items() if key != "discriminator"}


def merge_reference(referring: Schema, target: Any) -> Any:
    """Return the meaning of a schema with a `$ref`: the definition, and the keywords beside it.

    Annotations beside it replace the definition's; anything else is asserted beside it (`allOf`).
    """
    beside = {key: value for key, value in referring.items() if key != "$ref"}
    if isinstance(target, dict) and beside.keys() <= ANNOTATIONS:
        return {**target, **beside}
    return {**beside, "allOf": [target, *beside.get("allOf", ())]}
