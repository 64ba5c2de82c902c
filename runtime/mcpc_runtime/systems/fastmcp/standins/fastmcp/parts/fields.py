"""Fields that a project's subclass of a component declares, as a pydantic model's: annotations with defaults."""

from __future__ import annotations

from inspect import get_annotations
from typing import Any

OWN = __name__.partition(".")[0]
LATE = ("FieldInfo", "ModelPrivateAttr")
"""The classes of pydantic that stand for a default which is made for each object."""


def take_fields(component: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Set what a project's class declares; return the options that are left, with the class's defaults for ours."""
    fields = declared(type(component))
    for name, default in fields.items():
        if name in options or default is MISSING:
            continue
        value = default_of(default)
        options = {**options, name: value} if name in KNOWN else options
        if name not in KNOWN:
            component.__dict__[name] = value
    for name in [name for name in options if name in fields and name not in KNOWN]:
        component.__dict__[name] = options[name]
    return {name: value for name, value in options.items() if name in KNOWN or name not in fields}


KNOWN = frozenset(
    {
        "name",
        "title",
        "description",
        "icons",
        "meta",
        "tags",
        "annotations",
        "parameters",
        "output_schema",
        "arguments",
        "uri",
        "uri_template",
        "mime_type",
        "size",
        "enabled",
        "timeout",
        "serializer",
    }
)
"""The fields that components have."""
MISSING = object()


def declared(cls: type) -> dict[str, Any]:
    """Return the fields of a class that a project declares, with their defaults."""
    found: dict[str, Any] = {}
    for each in reversed(cls.__mro__):
        if each is object or each.__module__.partition(".")[0] == OWN:
            continue
        values = vars(each)
        names = [name for name, value in values.items() if type(value).__name__ in LATE]
        for name in [*get_annotations(each), *names]:
            if not name.startswith("model_"):
                found[name] = values.get(name, MISSING)
    return found


def default_of(value: Any) -> Any:
    """Return a default, made if it has to be."""
    kind = type(value).__name__
    if kind == "FieldInfo":
        return value.get_default(call_default_factory=True)
    return value.get_default() if kind == "ModelPrivateAttr" else value
