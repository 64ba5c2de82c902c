"""The schemas of a function that is a tool or a prompt, byte for byte as its framework's version makes them.

Those of the official SDK are made here, by pydantic models of the arguments and of the result; those of FastMCP in
`schema_fastmcp.py`.  pydantic is the project's own: this is imported when a schema is asked for.
"""

from __future__ import annotations

import base64
import inspect
import json
import mimetypes
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType, UnionType
from typing import Annotated, Any, Literal, NoReturn, Protocol, TypeAlias, Union, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, RootModel, TypeAdapter, WithJsonSchema, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaError

from mcpc_runtime.systems.fastmcp.engine import schema_fastmcp
from mcpc_runtime.systems.fastmcp.engine.behaviour import SchemaRules, rules
from mcpc_runtime.systems.fastmcp.engine.schema_fastmcp import add_descriptions, cleaned, parameters_schema
from mcpc_runtime.systems.fastmcp.engine.schema_types import (
    CONTENT,
    HELPERS,
    UNKNOWN,
    function_name,
    hints_of,
    is_builtin_generic,
    is_class,
    is_union,
    resolved,
    root_inlined,
    unwrapped,
    without_arms,
)
from mcpc_runtime.systems.fastmcp.generation import Generation
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object

PRIMITIVES = (str, int, float, bool, bytes, type(None))
"""The classes whose results are wrapped."""
FAILURES = (PydanticUserError, NameError, TypeError, ValueError, SchemaError)
"""What pydantic raises for a type that has no schema."""


class StrictSchema(GenerateJsonSchema):
    """Makes schemas, and refuses what pydantic only warns of: a default that is not JSON, for example."""

    def emit_warning(self, kind: str, detail: str) -> NoReturn:
        raise ValueError(f"{kind}: {detail}")


def arguments_model(function: Function, skipped: frozenset[str]) -> type[BaseModel]:
    """Return the model of a function's arguments, without those that are injected."""
    fields: Object = {}
    for parameter in evaluated(function).parameters.values():
        if parameter.name not in skipped:
            name, field = argument_field(parameter)
            fields[name] = field
    config = ConfigDict(arbitrary_types_allowed=True)
    return create_model(f"{function_name(function)}Arguments", __config__=config, **fields)


def evaluated(function: Function) -> inspect.Signature:
    """Return a function's signature with its annotations; that of the result may have a name that is not there."""
    try:
        return inspect.signature(function, eval_str=True)
    except NameError:
        bare = inspect.signature(function).replace(return_annotation=inspect.Signature.empty)
        names = getattr(inspect.unwrap(function), "__globals__", {})
        found = {each.name: resolved(each.annotation, names) for each in bare.parameters.values()}
        if UNKNOWN in found.values():
            raise
        return bare.replace(parameters=[each.replace(annotation=found[each.name]) for each in bare.parameters.values()])


def argument_field(parameter: inspect.Parameter) -> tuple[str, object]:
    """Return the name and the definition of a parameter's field."""
    name = parameter.name
    untyped = parameter.annotation is inspect.Parameter.empty
    extra = [WithJsonSchema({"title": name, "type": "string"})] if untyped else []
    options = {}
    if callable(getattr(BaseModel, name, None)):  # a field of this name would hide a method of the model
        options["alias"] = name
        name = f"field_{name}"
    kind: Any = Any if untyped else parameter.annotation
    annotation: Any = Annotated[(kind, *extra, Field(**options))]  # type: ignore[call-overload]
    return name, (annotation, ... if parameter.default is inspect.Parameter.empty else parameter.default)


def result_type(function: Function, rules: SchemaRules, *, forced: bool) -> tuple[object, bool] | None:
    """Return the type that a function's result is checked and written by, and whether it wraps the result.

    None: the function has no structured result.  `forced`: it has one whatever its annotation.
    """
    annotation = evaluated(function).return_annotation
    annotation = without_arms(annotation, lambda arm: is_class(arm, ("InputRequiredResult",)))
    kind, metadata = unwrapped(annotation)
    if is_class(kind, ("InputRequiredResult",)):
        return None
    if rules.opaque_call_results and is_class(kind, ("CallToolResult",)):
        if not metadata:
            return None
        kind, annotation = metadata[0], Annotated[metadata] if len(metadata) > 1 else metadata[0]
    if rules.content_opaque and not forced and is_content(kind):
        return None
    return model_of(kind, annotation, function_name(function), rules)


def is_content(annotation: object) -> bool:
    """Tell whether an annotation is content, or a sequence or union that has content in it."""
    annotation = unwrapped(annotation)[0]
    if is_union(annotation) or get_origin(annotation) in SEQUENCES:
        return any(is_content(argument) for argument in get_args(annotation))
    return is_class(annotation, CONTENT | (HELPERS - {"File"}))


SEQUENCES = frozenset(get_origin(each) for each in (list[int], tuple[int], typing_extensions.Sequence[int]))
"""The sequences whose items may be content."""


def model_of(kind: object, annotation: Any, name: str, rules: SchemaRules) -> tuple[Any, bool] | None:
    """Return the type for a result of a kind, and whether it wraps the result."""
    if is_builtin_generic(kind) and get_origin(kind) is dict and get_args(kind)[:1] == (str,):
        return dictionary_type(kind, f"{name}DictOutput", rules), False
    if not isinstance(kind, type) or is_builtin_generic(kind) or kind in PRIMITIVES:
        return create_model(f"{name}Output", result=(annotation, ...)), True
    if issubclass(kind, BaseModel):
        return kind, False
    if typing_extensions.is_typeddict(kind):
        return typed_dict_type(kind, rules), False
    found = class_type(kind)
    return None if found is None else (found, False)


def dictionary_type(kind: Any, title: str, rules: SchemaRules) -> Any:
    """Return the type of a dictionary with names as keys."""
    if rules.titled_dicts:
        return Annotated[kind, Field(title=title)]
    return type(title, (RootModel[kind],), {"__module__": __name__})


def class_type(kind: type) -> type[BaseModel] | None:
    """Return a model with the annotated attributes of a class; None if it has none."""
    try:
        hints = get_type_hints(kind, include_extras=False)
    except NameError:
        hints = {}
    fields: Object = {
        name: (hint, getattr(kind, name, ...)) for name, hint in hints.items() if not name.startswith("_")
    }
    return create_model(kind.__name__, __config__=ConfigDict(from_attributes=True), **fields) if hints else None


def typed_dict_type(kind: Any, rules: SchemaRules) -> Any:
    """Return the type of a TypedDict: itself where the version leaves it to pydantic, or a model of its keys."""
    if rules.native_typed_dicts:
        return readable_typed_dict(kind)
    required: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
    fields: Object = {name: (hint, ... if name in required else None) for name, hint in get_type_hints(kind).items()}
    return create_model(kind.__name__, **fields)


def readable_typed_dict(kind: Any) -> object:
    """Return a TypedDict that pydantic reads: before Python 3.12, the one of the standard library is made anew."""
    if sys.version_info >= (3, 12) or type(kind).__module__ != "typing":
        return kind
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    wrappers: tuple[Any, ...] = (typing_extensions.Required, typing_extensions.NotRequired)
    items = {
        name: hint
        if get_origin(hint) in wrappers or name in kind.__required_keys__
        else typing_extensions.NotRequired[hint]
        for name, hint in hints.items()
    }
    make: Any = typing_extensions.TypedDict
    made = make(kind.__name__, items)
    for attribute in ("__doc__", "__module__", "__qualname__", "__pydantic_config__"):
        if hasattr(kind, attribute):
            setattr(made, attribute, getattr(kind, attribute))
    return made


def sdk_schema(kind: Any, rules: SchemaRules) -> Object | None:
    """Return the schema of a result's type; None if pydantic has none for it."""
    try:
        schema = TypeAdapter(kind).json_schema(schema_generator=StrictSchema)
    except FAILURES:
        return None
    return root_inlined(schema) if rules.root_inlined else schema


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
        return arguments_model(function, hidden).model_json_schema()
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
    typed = result_type(function, version, forced=structured_output is True)
    schema = None if typed is None else sdk_schema(typed[0], version)
    return None if typed is None or schema is None else OutputShape(schema, typed[1], typed[0])


def prompt_arguments(function: Function, injected: frozenset[str], generation: Generation) -> list[Object]:
    if generation.family == "sdk":
        return arguments_of(arguments_model(function, injected).model_json_schema())
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
        # It raises TypeError for an annotation that cannot be hashed, which has no note.
        hash(annotation)
        schema = TypeAdapter(kind).json_schema()
    except Exception:  # noqa: BLE001  # pydantic runs code of the project's types
        return ""
    return rules.argument_note.replace("{schema}", json.dumps(schema, separators=(",", ":")))
