"""Description of a project's settings in Python: a class of settings, or a list of objects as in `server.json`.

Runs in the process of the project.  Each annotated attribute of the class becomes an object with the fields of a
setting; its JSON Schema, which pydantic writes, says what its type is.
"""

from __future__ import annotations

import types
import typing
from typing import TYPE_CHECKING, Any

import pydantic

from mcpc_runtime.handlers.python.settings import Secret, Settings, attribute_names

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH_FORMATS = {"file-path": "file", "path": "file", "directory-path": "directory"}
SCALARS = ("string", "integer", "number", "boolean")


class SettingTypeError(TypeError):
    """An attribute of a class of settings cannot be a setting."""


def describe_settings(declared: Any) -> list[Any]:
    """Return settings as JSON; raise SettingTypeError for what cannot be one."""
    if isinstance(declared, list | tuple):
        return [dict(item) if isinstance(item, dict) else item for item in declared]
    if not isinstance(declared, type):
        raise SettingTypeError("`settings` is neither a class of settings nor a list of objects")
    return list(_of_pydantic(declared) if hasattr(declared, "model_fields") else _of_class(declared))


def _of_class(declared: type) -> Iterator[dict[str, Any]]:
    """Yield the settings of a subclass of `Settings`."""
    if not issubclass(declared, Settings):
        raise SettingTypeError(f"`{declared.__name__}` is not a subclass of `Settings`")
    hints = typing.get_type_hints(declared, include_extras=True)
    for name in attribute_names(declared):
        # `...` is the default that pydantic gives to a field without one.
        default = getattr(declared, name, ...)
        is_field = isinstance(default, pydantic.fields.FieldInfo)
        field: Any = default if is_field else pydantic.fields.FieldInfo(default=default)
        yield _setting(declared.settings_prefix + name, hints[name], field)


def _of_pydantic(declared: Any) -> Iterator[dict[str, Any]]:
    """Yield the settings of a class of pydantic-settings."""
    prefix = declared.model_config.get("env_prefix", "")
    for name, field in declared.model_fields.items():
        yield _setting(str(prefix) + name, field.annotation, field)


def _setting(name: str, hint: Any, field: pydantic.fields.FieldInfo) -> dict[str, Any]:
    """Return one setting with its schema's type, choices and texts."""
    is_optional, hint = _without_none(hint)
    is_secret = hint is Secret
    schema = _schema(name, str if is_secret else hint, field)
    said: dict[str, Any] = {"name": name.upper(), "type": _type(name, schema)}
    if is_secret or schema.get("writeOnly"):
        said["secret"] = True
    for key in ("title", "description"):
        text = getattr(field, key)
        if text:
            said[key] = text
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if choices:
        said["choices"] = choices
    default = field.get_default(call_default_factory=True)
    if field.is_required() and not is_optional:
        said["required"] = True
    elif default is not None and not field.is_required():
        said["default"] = pydantic.TypeAdapter(Any).dump_python(default, mode="json")
    return said


def _without_none(hint: Any) -> tuple[bool, Any]:
    """Return whether a type allows None, and the type without it."""
    members = [item for item in typing.get_args(hint) if item is not type(None)]
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    if is_union and len(members) == 1 and len(typing.get_args(hint)) == 2:
        return True, members[0]
    return False, hint


def _schema(name: str, hint: Any, field: pydantic.fields.FieldInfo) -> dict[str, Any]:
    """Return the JSON Schema of an attribute, with a named definition in its place."""
    try:
        schema = pydantic.TypeAdapter(typing.Annotated[hint, field]).json_schema()
    except pydantic.errors.PydanticUserError:
        raise SettingTypeError(f"the type of `{name}` cannot be that of a setting") from None
    # An enumeration, for example, is a definition of its own with a reference to it.
    if "$ref" in schema:
        schema = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    extra = field.json_schema_extra
    return {**schema, **extra} if isinstance(extra, dict) else schema


def _type(name: str, schema: dict[str, Any]) -> str:
    kind, form = schema.get("type"), schema.get("format")
    if kind == "string" and form in PATH_FORMATS:
        return PATH_FORMATS[form]
    if kind not in SCALARS:
        raise SettingTypeError(f"the type of `{name}` cannot be that of a setting: expected a text, a number or a bool")
    return str(kind)
