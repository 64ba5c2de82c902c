"""Structures of classes, without the texts of schemas: of a field, of a class's head, of a root.

A thousand schemas have a thousand names, texts and limits, and a few dozen structures; only these are generated.  In a
structure every value is a placeholder, which is replaced by a literal (see `mcpc.schema.models.composition`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mcpc.schema.code import PythonCode, join_code, literal
from mcpc.schema.models.view_schemas import UNLIMITED

if TYPE_CHECKING:
    from mcpc.reading import Json
    from mcpc.schema.models.view_schemas import Shape

FIELD, HEAD, ROOT = "field", "head", "root"
TEXT, NUMBER, CLASS = "MCPC_{}", 900_000, "McpcClass{}"
"""The placeholders of a structure's texts, numbers and classes, each numbered."""
DEFAULTS: dict[type, Json] = {str: "text", int: 1, float: 1.5, bool: True, list: [], dict: {}}
"""A default is replaced by one of its type."""


class Structure(NamedTuple):
    """One field, head or root: its shape as JSON, for a field also whether it is required and has an alias."""

    kind: str
    shape: str
    required: bool = False
    aliased: bool = False


@dataclass(slots=True)
class Values:
    """The values of one structure's placeholders, as source text; `classes`: the classes it refers to."""

    written: list[PythonCode] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)

    def add(self, value: PythonCode) -> int:
        """Add a value; return its number."""
        self.written.append(value)
        return len(self.written) - 1


def structure_of(kind: str, shape: Shape, *, required: bool = False, aliased: bool = False) -> tuple[Structure, Values]:
    """Return the structure of a shape, and its values."""
    values = Values()
    bare = _bare(shape, values)
    return Structure(kind, json.dumps(bare, sort_keys=True), required, aliased), values


def _bare(shape: Shape, values: Values) -> Shape:
    # How long a list of places is decides what it is.
    limits = UNLIMITED if "prefixItems" not in shape else frozenset[str]()
    return {key: _placeholder(key, value, values, limits) for key, value in sorted(shape.items())}


def _placeholder(key: str, value: Json, values: Values, limits: frozenset[str]) -> Json:
    if key == "$ref":
        values.classes.append(str(value).rpartition("/")[2])
        return "#/$defs/" + CLASS.format(len(values.classes) - 1)
    if key == "enum" and isinstance(value, list):
        members = join_code(", ", (literal(item) for item in value if item is not None))
        return [TEXT.format(values.add(members)), *([None] if None in value else [])]
    if key == "description":
        return TEXT.format(values.add(literal(value)))
    if key in limits:
        return NUMBER + values.add(literal(value))
    if key == "default":
        return DEFAULTS[type(value)]
    return _inner(value, values)


def _inner(value: Json, values: Values) -> Json:
    if isinstance(value, dict):
        return _bare(value, values)
    return [_inner(item, values) for item in value] if isinstance(value, list) else value
