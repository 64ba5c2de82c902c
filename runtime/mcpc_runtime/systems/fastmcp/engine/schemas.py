"""The schemas of a function that is a tool or a prompt, byte for byte as its framework's version makes them.

This is the door to the modules `schema_*`: those import pydantic, which is the project's own, so they are imported
when a schema is asked for.
"""

from __future__ import annotations

import base64
import inspect
import json
import mimetypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType, UnionType
from typing import Annotated, Any, Literal, Protocol, TypeAlias, Union

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.fields import FieldInfo

from mcpc_runtime.systems.fastmcp.engine import schema_fastmcp, schema_sdk
from mcpc_runtime.systems.fastmcp.engine.behaviour import SchemaRules, rules
from mcpc_runtime.systems.fastmcp.engine.schema_fastmcp import add_descriptions, cleaned, parameters_schema
from mcpc_runtime.systems.fastmcp.engine.schema_types import UNKNOWN, hints_of, resolved
from mcpc_runtime.systems.fastmcp.generation import Generation
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object


@dataclass(frozen=True, slots=True)
class OutputShape:
    """The schema of a tool's result; whether the result is wrapped in `{"result": …}`.

    `kind`: in the SDK, the type by which the result is checked and written (pydantic knows it).
    """

    schema: Object
    wrapped: bool
    kind: Any = None


def input_schema(
    function: Function,
    injected: frozenset[str],
    generation: Generation,
    exclude: frozenset[str] = frozenset(),
) -> Object:
    """Return the schema of a tool's arguments.  `injected`, `exclude`: the parameters that clients do not see."""
    hidden = injected | exclude
    if generation.family == "sdk":
        return schema_sdk.arguments_model(function, hidden).model_json_schema()
    return schema_fastmcp.input_of(function, hidden, rules(generation))


def output_schema(
    function: Function, generation: Generation, structured_output: bool | None = None
) -> OutputShape | None:
    """Return the shape of a tool's result; None if it is not structured.

    `structured_output`: what the project asked for (SDK): always, never, or as the annotation says.
    """
    version = rules(generation)
    if structured_output is False or not version.output:
        return None
    if generation.family == "fastmcp":
        found = schema_fastmcp.output_of(function, version)
        return None if found is None else OutputShape(*found)
    typed = schema_sdk.result_type(function, version, forced=structured_output is True)
    schema = None if typed is None else schema_sdk.result_schema(typed[0], version)
    return None if typed is None or schema is None else OutputShape(schema, typed[1], typed[0])


def prompt_arguments(function: Function, injected: frozenset[str], generation: Generation) -> list[Object]:
    if generation.family == "sdk":
        return arguments_of(schema_sdk.arguments_model(function, injected).model_json_schema())
    return noted_arguments(function, injected, rules(generation))


NAMES: Object = {
    "base64": base64,
    "inspect": inspect,
    "mimetypes": mimetypes,
    "os": os,
    "Callable": Callable,
    "Path": Path,
    "EllipsisType": EllipsisType,
    "UnionType": UnionType,
    "Annotated": Annotated,
    "Any": Any,
    "Protocol": Protocol,
    "TypeAlias": TypeAlias,
    "Union": Union,
    "AnyUrl": AnyUrl,
    "BaseModel": BaseModel,
    "ConfigDict": ConfigDict,
    "Field": Field,
    "TypeAdapter": TypeAdapter,
}
"""The names that FastMCP can resolve in an annotation that is text: those of its own modules, besides the built-in."""
MORE_NAMES: Object = {"Literal": Literal, "Sequence": Sequence}
"""The names that only some versions can resolve."""


def arguments_of(schema: Object) -> list[Object]:
    required = schema.get("required", ())
    return [
        argument(name, found.get("description"), required=name in required)
        for name, found in schema.get("properties", {}).items()
    ]


def argument(name: str, description: str | None, *, required: bool, title: str | None = None) -> Object:
    found = {"name": name, "title": title, "description": description, "required": required}
    return {key: value for key, value in found.items() if value is not None}


def noted_arguments(function: Function, hidden: frozenset[str], rules: SchemaRules) -> list[Object]:
    """Return the arguments of a prompt of FastMCP: those that are not strings have their schema in the text."""
    schema = cleaned(parameters_schema(function, hidden, rules), rules, titles=rules.prunes_prompt_titles)
    add_descriptions(schema, function, rules)
    arguments = arguments_of(schema)
    titles = titles_of(function) if rules.argument_titles else {}
    written = inspect.signature(function).parameters
    for each in arguments:
        note = note_of(written[each["name"]].annotation, rules)
        if note:
            text = each.get("description")
            each["description"] = f"{text}\n\n{note}" if text else note
    return [
        argument(each["name"], each.get("description"), required=each["required"], title=titles.get(each["name"]))
        for each in arguments
    ]


def titles_of(function: Function) -> dict[str, str]:
    """Return the titles of parameters that `Field(title=…)` says, as a default or in an annotation."""
    hints = hints_of(function)
    found: dict[str, str] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        fields = [*getattr(hints.get(name), "__metadata__", ()), parameter.default]
        titles = [each.title for each in fields if isinstance(each, FieldInfo) and each.title]
        found |= {name: titles[-1]} if titles else {}
    return found


def note_of(annotation: object, rules: SchemaRules) -> str:
    """Return what is said of an argument with an annotation as it is written; empty if nothing is."""
    if not rules.argument_note or annotation is inspect.Parameter.empty or annotation is str:
        return ""
    kind = resolved(annotation, {**NAMES, **{name: MORE_NAMES[name] for name in rules.text_names}})
    if kind is UNKNOWN:
        return ""
    try:
        hash(annotation)
        schema = TypeAdapter(kind).json_schema()
    except Exception:  # noqa: BLE001  # pydantic runs code of the project's types
        return ""
    return rules.argument_note.replace("{schema}", json.dumps(schema, separators=(",", ":")))
