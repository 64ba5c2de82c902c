"""The schemas of functions as FastMCP makes them: by pydantic's view of the function, cleaned.

pydantic is the project's own; this module is imported only when lists are made.
"""

from __future__ import annotations

import inspect
from dataclasses import make_dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import Field, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from mcpc_runtime.systems.fastmcp.engine.behaviour import SchemaRules
from mcpc_runtime.systems.fastmcp.engine.docstrings import divided
from mcpc_runtime.systems.fastmcp.engine.schema_types import (
    CONTENT,
    HELPERS,
    called,
    contains,
    dereferenced,
    has_arm,
    hints_of,
    is_bare_sequence,
    is_class,
    is_own,
    is_union,
    root_inlined,
    unwrapped,
    without_arms,
)
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object

STRUCTURE = frozenset({"type", "properties", "$ref", "items", "allOf", "oneOf", "anyOf", "required"})
"""The keywords that tell that a node is a schema."""
DESCRIPTIONS = frozenset({"title", "description", "deprecated", "readOnly", "writeOnly"})
"""The keywords that say nothing about values: a node of these alone is a schema too."""
VALUES = frozenset({"default", "const", "examples", "example", "enum"})
"""The keywords whose values are not schemas."""
NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""The keywords whose values are objects of schemas by name."""
LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""The keywords whose values are lists of schemas."""
NESTED = frozenset(
    {
        *("items", "additionalItems", "additionalProperties", "contains", "contentSchema", "propertyNames"),
        *("unevaluatedItems", "unevaluatedProperties", "if", "then", "else", "not"),
    }
)
"""The keywords whose value is a schema."""


def cleaned(schema: Object, rules: SchemaRules, *, titles: bool = True) -> Object:
    """Return a schema without what a version removes.  `titles`: whether it removes them here at all."""
    style = rules.prunes_titles if titles else ""
    result: Object = (
        clean_schema(schema, rules) if style == "schemas" else clean_node(schema, rules, titles=bool(style))
    )
    return result


def clean_node(node: object, rules: SchemaRules, *, titles: bool) -> Any:
    """Clean every object in a schema, whatever its place: the older versions do not know where schemas are."""
    if isinstance(node, list):
        return [clean_node(item, rules, titles=titles) for item in node]
    if not isinstance(node, dict):
        return node
    drop = titles and "title" in node and not STRUCTURE.isdisjoint(node)
    kept = without(node, rules, title=drop)
    return {key: clean_node(value, rules, titles=titles) for key, value in kept.items()}


def clean_schema(node: object, rules: SchemaRules) -> Any:
    """Clean the schemas in a schema, and leave values and extensions as they are."""
    if isinstance(node, list):
        return [clean_schema(item, rules) for item in node]
    if not isinstance(node, dict):
        return node
    drop = isinstance(node.get("title"), str) and (not STRUCTURE.isdisjoint(node) or DESCRIPTIONS.issuperset(node))
    return {key: clean_value(key, value, rules) for key, value in without(node, rules, title=drop).items()}


def clean_value(key: str, value: object, rules: SchemaRules) -> object:
    if key in NAMED and isinstance(value, dict):
        return {name: clean_schema(schema, rules) for name, schema in value.items()}
    return clean_schema(value, rules) if key in LISTED or key in NESTED else value


def without(node: Object, rules: SchemaRules, *, title: bool) -> Object:
    """Return an object without its title, if that is asked for, and without a refusal of other properties."""
    refuses = not rules.keeps_additional_properties and node.get("additionalProperties") is False
    return {
        key: value
        for key, value in node.items()
        if not (title and key == "title") and not (refuses and key == "additionalProperties")
    }


OPAQUE = CONTENT | HELPERS | {"ToolResult", "InputRequiredResult"}
"""The classes that make a result unstructured, wherever they are in its annotation."""
FAILURES = (PydanticUserError, NameError, TypeError)
"""What pydantic raises for a type that has no schema."""
WRAPPED = "x-fastmcp-wrap-result"


class OwnAliases(GenerateJsonSchema):
    """Makes schemas in which each model's fields have the names by which the model is written."""

    def model_schema(self, schema: core_schema.ModelSchema) -> Object:
        with_alias = bool(schema["cls"].model_config.get("serialize_by_alias"))
        # Models are within models: afterwards the rule of the outer one holds again.
        previous, self.by_alias = self.by_alias, with_alias
        try:
            return super().model_schema(schema)
        finally:
            self.by_alias = previous

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> Object:
        with_alias = bool((schema.get("config") or {}).get("serialize_by_alias"))
        previous, self.by_alias = self.by_alias, with_alias
        try:
            return super().dataclass_schema(schema)
        finally:
            self.by_alias = previous


def parameters_schema(function: Function, hidden: frozenset[str], rules: SchemaRules) -> Object:
    """Return pydantic's schema of a function's parameters, without the hidden ones."""
    target = called(function)
    hints = hints_of(target)
    if rules.text_annotations:
        hints = {name: described(hint) for name, hint in hints.items()}
    parameters = [each for each in inspect.signature(target).parameters.values() if each.name not in hidden]
    if rules.loses_keyword_defaults and not hidden and hints != getattr(target, "__annotations__", {}):
        parameters = [without_default(each) for each in parameters]
    return TypeAdapter(stub(target, parameters, hints)).json_schema()


def stub(function: Function, parameters: list[inspect.Parameter], hints: Object) -> Any:
    """Return a function with these parameters and annotations, in the module of another."""

    def replacement(**_: object) -> None:
        pass

    replacement.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    names = {each.name for each in parameters}
    replacement.__annotations__ = {name: hint for name, hint in hints.items() if name in names}
    replacement.__module__ = getattr(function, "__module__", None) or __name__
    return replacement


def described(hint: object) -> Any:
    """Return an annotation whose only metadata is text with that text as its description."""
    if get_origin(hint) is Annotated and len(get_args(hint)) == 2 and isinstance(get_args(hint)[1], str):
        kind, text = get_args(hint)
        return Annotated[kind, Field(description=text)]
    return hint


def without_default(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a keyword-only parameter without its default, others as they are."""
    keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
    return parameter.replace(default=inspect.Parameter.empty) if keyword else parameter


def input_of(function: Function, hidden: frozenset[str], rules: SchemaRules) -> Object:
    """Return the schema of a tool's arguments."""
    raw = parameters_schema(function, hidden, rules)
    schema = cleaned(raw, rules)
    if rules.author_titles:
        restore_titles(schema, raw)
    add_descriptions(schema, function, rules)
    return dereferenced(schema, rules.discriminators) if rules.dereferences == "made" else schema


def restore_titles(schema: Object, raw: Object) -> None:
    """Give the properties of a cleaned schema the titles that are not made of their names."""
    usual = GenerateJsonSchema().get_title_from_name
    for name, before in raw.get("properties", {}).items():
        title = before.get("title") if isinstance(before, dict) else None
        if isinstance(title, str) and title != usual(name):
            schema["properties"][name]["title"] = title


def add_descriptions(schema: Object, function: Function, rules: SchemaRules) -> None:
    """Give the properties of a schema that have no description the one in the function's docstring."""
    if not rules.docstrings:
        return
    for name, text in divided(called(function), rules.docstrings).parameters.items():
        found = schema.get("properties", {}).get(name)
        if found is not None and "description" not in found:
            found["description"] = text


def return_annotation(function: Function) -> object:
    """Return the annotation of a function's result, resolved if it is text and can be."""
    annotation = inspect.signature(function).return_annotation
    return hints_of(function).get("return", annotation) if isinstance(annotation, str) else annotation


def result_annotation(function: Function, rules: SchemaRules) -> object:
    """Return the annotation by which a function's result is structured; None if it is not."""
    annotation = return_annotation(called(function))
    annotation = without_arms(annotation, lambda arm: is_class(arm, ("InputRequiredResult",)))
    if any(annotation is none for none in (inspect.Signature.empty, None, Any, ...)):
        return None
    return None if is_opaque(annotation, rules) else annotation


def is_opaque(annotation: object, rules: SchemaRules) -> bool:
    """Tell whether an annotation gives no structured result."""
    return (
        contains(annotation, lambda each: is_own(each, OPAQUE))
        or (rules.opaque_bytes and has_arm(annotation, lambda arm: arm is bytes))
        or (rules.opaque_subclasses and has_arm(annotation, lambda arm: is_class(arm, ("ToolResult",))))
        or (rules.opaque_call_results and is_class(annotation, ("CallToolResult",)))
        or (rules.opaque_bare_lists and is_bare_sequence(annotation))
    )


def output_of(function: Function, rules: SchemaRules) -> tuple[Object, bool] | None:
    """Return the schema of a tool's result, and whether the result is wrapped; None if it is not structured."""
    annotation = result_annotation(function, rules)
    if annotation is None:
        return None
    try:
        schema = result_schema(annotation, annotation, rules)
        wrapped = not is_object(schema, schema, rules)
        if wrapped:
            schema = result_schema(wrapper_of(annotation, rules), annotation, rules)
            schema[WRAPPED] = True
    except FAILURES:
        return None
    schema = cleaned(schema, rules)
    schema = dereferenced(schema, rules.discriminators) if rules.dereferences == "made" else schema
    return root_inlined(schema) if rules.root_inlined else schema, wrapped


def result_schema(kind: Any, annotation: object, rules: SchemaRules) -> Object:
    """Return pydantic's schema of a result's type.  `annotation`: that of the function."""
    mode: Any = rules.output_mode
    if rules.output_aliases == "each":
        return TypeAdapter(kind).json_schema(mode=mode, by_alias=False, schema_generator=OwnAliases)
    by_alias = rules.output_aliases == "always" or outer_aliases(annotation)
    return TypeAdapter(kind).json_schema(mode=mode, by_alias=by_alias)


def outer_aliases(annotation: object) -> bool:
    """Tell whether the outer model of an annotation, or the first of a union, is written with aliases."""
    if get_origin(annotation) is Annotated:
        return outer_aliases(get_args(annotation)[0])
    for kind in get_args(annotation) if is_union(annotation) else (annotation,):
        config = getattr(unwrapped(kind)[0], "model_config", None)
        if isinstance(config, dict):
            return config.get("serialize_by_alias") is not False
    return True


def wrapper_of(annotation: object, rules: SchemaRules) -> object:
    """Return a class whose only attribute is a result."""
    made = make_dataclass("_WrappedResult", [("result", annotation)])
    if rules.wrapper_description:
        made.__doc__ = rules.wrapper_description
    return made


def is_object(schema: object, root: Object, rules: SchemaRules, seen: frozenset[str] = frozenset()) -> bool:
    """Tell whether a schema is one of objects, by itself or by what it refers to."""
    if not isinstance(schema, dict):
        return False
    if schema.get("type") == "object" or (rules.properties_are_objects and "properties" in schema):
        return True
    reference = schema.get("$ref")
    if not rules.properties_are_objects or not isinstance(reference, str) or reference in seen:
        return False
    target = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
    return is_object(target, root, rules, seen | {reference})
