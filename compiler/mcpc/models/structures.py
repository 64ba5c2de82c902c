"""What classes are made of, without the words of any schema: the structure of a field, of a class's head, of a root.

A thousand schemas have a thousand names, texts and limits, and a few dozen structures; only these are generated.  In a
structure every value has a stand-in, and what it stands in for gets there as a literal (see `mcpc.models.composition`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mcpc.models.shapes import UNLIMITED
from mcpc.schema.code import Code, joined, literal

if TYPE_CHECKING:
    from mcpc.models.shapes import Shape
    from mcpc.sources import Json

FIELD, HEAD, ROOT = "field", "head", "root"
TEXT, NUMBER, CLASS = "MCPC_{}", 900_000, "McpcClass{}"
"""The stand-ins of the first, second, … text, number and class of a structure."""
DEFAULTS: dict[type, Json] = {str: "text", int: 1, float: 1.5, bool: True, list: [], dict: {}}
"""A default is put in the place of one of its type."""


class Structure(NamedTuple):
    """One field, head or root: its shape as JSON, for a field also whether it is required and has an alias."""

    kind: str
    shape: str
    required: bool = False
    aliased: bool = False


@dataclass(slots=True)
class Values:
    """What the stand-ins of one structure stand in for, each as it is written; `classes`: the classes it refers to."""

    written: list[Code] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)

    def add(self, value: Code) -> int:
        """Take a value; return its number."""
        self.written.append(value)
        return len(self.written) - 1


def structure_of(kind: str, shape: Shape, *, required: bool = False, aliased: bool = False) -> tuple[Structure, Values]:
    """Return the structure of a shape, and the values that were in it."""
    values = Values()
    bare = _bare(shape, values)
    return Structure(kind, json.dumps(bare, sort_keys=True), required, aliased), values


def _bare(shape: Shape, values: Values) -> Shape:
    # How long a list of places is decides what it is.
    limits = UNLIMITED if "prefixItems" not in shape else frozenset[str]()
    return {key: _stand_in(key, value, values, limits) for key, value in sorted(shape.items())}


def _stand_in(key: str, value: Json, values: Values, limits: frozenset[str]) -> Json:
    if key == "$ref":
        values.classes.append(str(value).rpartition("/")[2])
        return "#/$defs/" + CLASS.format(len(values.classes) - 1)
    if key == "enum" and isinstance(value, list):
        members = joined(", ", (literal(one) for one in value if one is not None))
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
    return [_inner(one, values) for one in value] if isinstance(value, list) else value
