"""Questions to the user: what may be asked for, and the answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from enum import Enum
from types import GenericAlias
from typing import Any, ClassVar, Literal, get_origin

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.interfaces import Object


@dataclass
class AcceptedElicitation:
    """The user's answer."""

    data: object = None
    action: str = "accept"

    __class_getitem__: ClassVar[object] = classmethod(GenericAlias)


@dataclass
class DeclinedElicitation:
    """The user did not want to answer."""

    action: str = "decline"


@dataclass
class CancelledElicitation:
    """The user closed the question."""

    action: str = "cancel"


@dataclass
class AcceptedUrlElicitation:
    """The user agreed to open an address."""

    action: str = "accept"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for.  `read` returns the answer's value; ValueError: it is not what was asked for."""

    schema: Object
    read: Callable[[Any], Any]


def question(kind: object, title: str | None = None, description: str | None = None) -> Question:
    """Return what FastMCP asks for when it wants a type, a choice of a list, or choices of a dictionary."""
    if kind is None:
        return Question({"type": "object", "properties": {}}, read_nothing)
    if isinstance(kind, (dict, list)) and choices_of(kind) is not None:
        found = Question(value_schema(choices_of(kind) or {}), read_value)
    else:
        found = Question(*typed_question(kind))
    named = {key: text for key, text in (("title", title), ("description", description)) if text is not None}
    if named:
        if "value" not in found.schema["properties"]:
            raise TypeError(
                "response_title and response_description are only supported when response_type is a scalar, Literal, "
                "Enum, or the dict/list shorthand forms."
            )
        found.schema["properties"]["value"].update(named)
    return found


def choices_of(kind: Any) -> Object | None:
    """Return the schema of choices that are given as values with titles, or of several choices; None for others."""
    if isinstance(kind, dict):
        if not kind:
            raise ValueError("Dict response_type cannot be empty.")
        return {"oneOf": titled(kind), "type": "string"}
    if len(kind) == 1 and isinstance(kind[0], list) and kind[0]:
        typed = {"type": "string"} if behaviour().typed_choices else {}
        return {"type": "array", "items": {**typed, "enum": kind[0]}}
    if len(kind) == 1 and isinstance(kind[0], dict) and kind[0]:
        return {"type": "array", "items": {"anyOf": titled(kind[0])}}
    if not kind or not all(isinstance(item, str) for item in kind):
        raise ValueError(f"Invalid list response_type format. Received: {kind}")
    return None


def titled(choices: Object) -> list[Object]:
    return [{"const": value, "title": more.get("title", value)} for value, more in choices.items()]


def value_schema(schema: Object) -> Object:
    return {"type": "object", "properties": {"value": schema}, "required": ["value"]}


def read_nothing(content: object) -> object:
    """Return an empty answer."""
    if content:
        raise ValueError(f"Elicitation expected an empty response, but received: {content}")
    return {}


def read_value(content: object) -> object:
    if not isinstance(content, dict) or "value" not in content:
        raise ValueError("Elicitation response missing required 'value' field.")
    return content["value"]


def answer_of(wanted: Question, answer: Object) -> object:
    """Return a client's answer."""
    action = answer.get("action")
    if action == "accept":
        return AcceptedElicitation(wanted.read(answer.get("content")))
    return refused(answer)


def refused(answer: Object) -> object:
    action = answer.get("action")
    if action == "decline":
        return DeclinedElicitation()
    if action == "cancel":
        return CancelledElicitation()
    raise ValueError(f"Unexpected elicitation action: {action}")


def url_answer(answer: Object) -> object:
    """Return a client's answer to the question whether an address is opened."""
    return AcceptedUrlElicitation() if answer.get("action") == "accept" else refused(answer)


SCALARS = (bool, int, float, str)
PERMITTED = frozenset({"string", "number", "integer", "boolean"})
"""The types of an answer's values."""


class InlineEnums(GenerateJsonSchema):
    """Makes schemas with enumerations where they are used."""

    enumerations: Object

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> Object:
        """Remember the enumerations that are used more than once."""
        self.enumerations = {each["ref"]: each for each in schema["definitions"] if each["type"] == "enum"}
        return super().definitions_schema(schema)

    def definition_ref_schema(self, schema: core_schema.DefinitionReferenceSchema) -> Object:
        # Not set where a schema has no definitions.
        found = getattr(self, "enumerations", {}).get(schema["schema_ref"])
        return super().definition_ref_schema(schema) if found is None else self.enum_schema(found)

    def generate_inner(self, schema: Any) -> Object:
        """Return the schema of a part: an enumeration itself, not a reference to it."""
        return self.enum_schema(schema) if schema["type"] == "enum" else super().generate_inner(schema)


def typed_question(kind: Any) -> tuple[Object, Callable[[Any], Any]]:
    """Return the schema of an answer of a type, or of one of a list of texts, and what reads the answer."""
    if isinstance(kind, list):
        kind = Literal[tuple(kind)]
    if is_scalar(kind) or get_origin(kind) is list:
        # FastMCP's name, which is the title of the schema.
        wrapper = make_dataclass("ScalarElicitationType", [("value", kind)])
        checked: TypeAdapter[Any] = TypeAdapter(wrapper)
        schema = schema_of(checked)
        if not behaviour().titled_scalars:
            schema.pop("title", None)
        return schema, lambda content: checked.validate_python(content).value
    adapter = TypeAdapter(kind)
    return schema_of(adapter), adapter.validate_python


def is_scalar(kind: object) -> bool:
    """Tell whether a type is one of single values."""
    return kind in SCALARS or get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum))


def schema_of(adapter: TypeAdapter[object]) -> Object:
    """Return the schema of an answer; TypeError: it may not be asked for."""
    schema = adapter.json_schema(schema_generator=InlineEnums)
    if schema.get("type") != "object":
        raise TypeError(
            f"Elicitation schema must be an object schema, got type '{schema.get('type')}'. "
            "Elicitation schemas are limited to flat objects with primitive properties only."
        )
    for name, field in schema.get("properties", {}).items():
        if not is_permitted(field, schema):
            kind = "union type" if "anyOf" in field or "oneOf" in field else "type"
            raise TypeError(
                f"Elicitation schema field '{name}' has {kind} '{field.get('type')}' which is not a primitive type. "
                f"Only {set(PERMITTED)} are allowed in elicitation schemas."
            )
    return schema


def is_permitted(field: Object, root: Object) -> bool:
    """Tell whether a field may be asked for."""
    if "const" in field or "enum" in field:
        return True
    if "$ref" in field:
        return is_permitted(root.get("$defs", {}).get(field["$ref"].rpartition("/")[2], {}), root)
    choices = [*field.get("oneOf", ()), *field.get("anyOf", ())]
    if choices:
        return all("const" in each or "enum" in each or each.get("type") in {*PERMITTED, "null"} for each in choices)
    if field.get("type") == "array":
        items = field.get("items", {})
        several = [*items.get("oneOf", ()), *items.get("anyOf", ())]
        return "enum" in items or "const" in items or (bool(several) and all("const" in each for each in several))
    return field.get("type") in PERMITTED
