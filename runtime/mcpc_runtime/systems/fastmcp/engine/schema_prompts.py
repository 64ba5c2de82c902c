"""The arguments of prompts: names and descriptions, with the schema in the text where FastMCP says it.

pydantic is the project's own; this module is imported only when lists are made.
"""

from __future__ import annotations

import base64
import inspect
import json
import mimetypes
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import EllipsisType, UnionType
from typing import Annotated, Any, Literal, Protocol, TypeAlias, Union

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.fields import FieldInfo

from mcpc_runtime.systems.fastmcp.engine.schema_cleaning import cleaned
from mcpc_runtime.systems.fastmcp.engine.schema_fastmcp import add_descriptions, parameters_schema
from mcpc_runtime.systems.fastmcp.engine.schema_types import UNKNOWN, hints_of, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.systems.fastmcp.engine.schema_rules import SchemaRules

NAMES: dict[str, Any] = {
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
MORE_NAMES: dict[str, Any] = {"Literal": Literal, "Sequence": Sequence}
"""The names that only some versions can resolve."""


def arguments_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments that a schema describes."""
    required = schema.get("required", ())
    return [
        argument(name, found.get("description"), required=name in required)
        for name, found in schema.get("properties", {}).items()
    ]


def argument(name: str, description: str | None, *, required: bool, title: str | None = None) -> dict[str, Any]:
    """Return an argument of a prompt."""
    found = {"name": name, "title": title, "description": description, "required": required}
    return {key: value for key, value in found.items() if value is not None}


def noted_arguments(function: Callable[..., Any], hidden: frozenset[str], rules: SchemaRules) -> list[dict[str, Any]]:
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


def titles_of(function: Callable[..., Any]) -> dict[str, str]:
    """Return the titles of parameters that `Field(title=…)` says, as a default or in an annotation."""
    hints = hints_of(function)
    found: dict[str, str] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        fields = [*getattr(hints.get(name), "__metadata__", ()), parameter.default]
        titles = [each.title for each in fields if isinstance(each, FieldInfo) and each.title]
        found |= {name: titles[-1]} if titles else {}
    return found


def note_of(annotation: Any, rules: SchemaRules) -> str:
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
