"""What a program reads from its environment: fields of its classes of pydantic-settings, and variables it looks up.

A class counts if the project defines it, whether or not it has made an instance.  A default is left out if it contains
what only this build has: the value of a variable, or a path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from mcpc_runtime.artifact.build_time.machine import read_variables
from mcpc_runtime.artifact.build_time.raised import SETTINGS, Facts, guarded, relative

SHORTEST = 6
"""The length of values that are looked for in defaults; shorter ones are compared with the whole."""


def settings_facts(folder: str) -> list[Facts]:
    """Return each setting that the project in a folder reads, those of classes first."""
    rows: list[Facts] = []
    for kind in settings_classes(folder):
        rows += guarded(partial(rows_of, kind), [])
    for name, known in read_variables().items():
        default = {"default": known.default} if isinstance(known.default, str | int | float) else {}
        rows.append({"name": name, "needed": known.needed, **default})
    by_name: dict[str, Facts] = {}
    for row in rows:
        by_name.setdefault(row["name"], row)
    return [without_default(row) if is_of_build(row.get("default"), folder) else row for row in by_name.values()]


def without_default(row: Facts) -> Facts:
    """Return a row without its default."""
    return {name: value for name, value in row.items() if name != "default"}


def is_of_build(default: object, folder: str) -> bool:
    """Tell whether a default contains the value of a variable of this process, or the path of its folders."""
    text = str(default)
    # The build sets those of Python, to values such as 0, which a default may have by itself.
    values = [value for name, value in os.environ.items() if value and not name.startswith("PYTHON")]
    places = (os.path.dirname(folder), os.path.dirname(sys.executable))
    return text in values or any(part in text for part in (*values, *places) if len(part) >= SHORTEST)


def settings_classes(folder: str) -> Iterator[Any]:
    """Yield the classes of settings that files of the project define, without those that others derive from."""
    base = getattr(sys.modules.get("pydantic_settings"), SETTINGS, None)
    waiting = [] if base is None else [base]
    for kind in waiting:  # grows during the loop
        derived = type.__subclasses__(kind)
        waiting += derived
        if is_of_project(kind, folder) and not any(is_of_project(each, folder) for each in derived):
            yield kind


def is_of_project(kind: type, folder: str) -> bool:
    """Tell whether a file of a folder defines a class."""
    return bool(relative(str(getattr(sys.modules.get(kind.__module__), "__file__", None) or ""), folder))


def rows_of(kind: Any) -> list[Facts]:
    """Return the settings of a class."""
    return [*class_rows(kind)]


def class_rows(kind: Any, prefix: str = "", config: Any = None) -> Iterator[Facts]:
    """Yield the settings of a class; of a model in it those of its fields, if it has a delimiter for them."""
    config = kind.model_config if config is None else config
    prefix = prefix or config.get("env_prefix") or ""
    schema: Facts = guarded(partial(kind.model_json_schema, by_alias=False), {})
    for field, info in kind.model_fields.items():
        names = alias_texts(info.validation_alias or info.alias) or [f"{prefix}{field}"]
        delimiter = config.get("env_nested_delimiter")
        if hasattr(info.annotation, "model_fields"):
            if delimiter and SETTINGS not in (base.__name__ for base in info.annotation.__mro__):
                yield from class_rows(info.annotation, f"{names[0]}{delimiter}", config)
            continue
        said = property_facts(schema.get("properties", {}).get(field, {}), schema.get("$defs", {}))
        # Of several names any will do, so that none is needed by itself.
        needed = info.is_required() and len(names) == 1
        for name in names:
            yield {"name": name if config.get("case_sensitive") else name.upper(), "needed": needed, **said}


def alias_texts(alias: Any) -> list[str]:
    """Return the names of an alias, which may be a choice of several."""
    return [text for text in getattr(alias, "choices", [alias]) if isinstance(text, str)]


def property_facts(written: Facts, definitions: Facts) -> Facts:
    """Return the type, the texts, the choices and the default of a property of a JSON Schema."""
    options = [each for each in written.get("anyOf", ()) if each.get("type") != "null"]
    schema = {**(options[0] if len(options) == 1 else {}), **written}
    for reference in [schema["$ref"]] if "$ref" in schema else []:
        schema = {**definitions.get(reference.rpartition("/")[2], {}), **schema}
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    default = schema.get("default")
    return {
        "type": "uri" if schema.get("format") == "uri" else str(schema.get("type", "")),
        "secret": bool(schema.get("writeOnly")),
        "description": str(written.get("description", "")),
        "choices": [each for each in choices if isinstance(each, str | int | float)],
        **({"default": default} if isinstance(default, str | int | float) else {}),
    }
