"""Plain keywords of simplified schemas, and how several of them are combined; see `mcpc.schema.models.view`.

A thousand schemas have a thousand names, texts and limits, and a few dozen structures; only these are generated.  In a
structure every value is a placeholder, which is replaced by a literal (see `mcpc.schema.models.composition`).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mcpc.schema.code import PythonCode, join_code, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.reading import Json

Shape = dict[str, "Json"]

NOTES = ("description", "default")
# Control characters but the line feed, the line separators of Unicode, and surrogates.
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
SURROGATE = re.compile("[\ud800-\udfff]")
SCALARS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class NoModelError(Exception):
    """A schema without a possible model; the message describes why."""


def visible_text(text: str) -> str:
    """Return a text without characters that are not allowed in source code."""
    return UNSEEN.sub(" ", text)


def without_notes(shape: Shape) -> Shape:
    """Return a shape without the annotations of the place where it is used."""
    return {key: value for key, value in shape.items() if key not in NOTES}


def are_literals(values: Sequence[Json]) -> bool:
    """Tell whether a model can have exactly these values: strings, whole numbers, booleans without numbers."""
    kinds = {type(value) for value in values}
    # True and 1 are equal, so that one of them would be lost.
    plain = kinds <= {str, int, bool, type(None)} and not {int, bool} <= kinds
    return plain and not any(isinstance(value, str) and SURROGATE.search(value) for value in values)


def enumeration_shape(values: Sequence[Json]) -> Shape:
    return {"type": "null"} if set(map(type, values)) == {type(None)} else {"enum": list(dict.fromkeys(values))}


NULL: Shape = {"type": "null"}
# Also an upper bound that is excluded: for integers `< 2.5` is `< 3`.
ROUNDED_UP = ("minimum", "exclusiveMaximum", "minLength", "minItems")
LIMITS: dict[str, tuple[str, ...]] = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
}
UNLIMITED = frozenset(key for keys in LIMITS.values() for key in keys)


def limited_type(kind: str, limits: Mapping[str, float]) -> Shape:
    """Return the shape of a type, with those limits that a model can express."""
    kept = {key: limits[key] for key in LIMITS.get(kind, ()) if key in limits}
    if kind == "number":
        # A model compares binary numbers: a bound that is none would exclude values beside it.
        return {"type": kind, **{key: value for key, value in kept.items() if _is_binary(value)}}
    return {"type": kind, **{key: _whole(key, value) for key, value in kept.items()}}


def _is_binary(value: float) -> bool:
    return abs(value) <= 2**53 or float(value) == value


def _whole(key: str, value: float) -> int:
    return math.ceil(value) if key in ROUNDED_UP else math.floor(value)


def union_of(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of a value with one of several shapes; any shape that accepts everything makes it unrestricted.

    If several are left, they lose their limits, each of which would require a class.
    """
    members = [member for shape in shapes for member in _split(without_notes(shape))]
    if not all(members):
        return {}
    others = _distinct([member for member in members if member != NULL])
    if len(others) > 1:
        plain = [without_limits(shape) for shape in others if "enum" not in shape]
        others = _distinct([*plain, *_enumerated(others)])
    if NULL not in members:
        return union_shape(others)
    if len(others) != 1:
        return union_shape([*others, NULL])
    (only,) = others
    if "enum" in only:
        return {"enum": [*_values(only), None]}
    return {**only, "type": [only["type"], "null"]} if "type" in only else {"anyOf": [only, NULL]}


def union_shape(members: Sequence[Shape]) -> Shape:
    return dict(members[0]) if len(members) == 1 else {"anyOf": list(members)} if members else {}


def _split(shape: Shape) -> list[Shape]:
    """Return the alternatives of a shape."""
    members, kind, values = shape.get("anyOf"), shape.get("type"), shape.get("enum")
    if isinstance(members, list):
        return members  # type: ignore[return-value]
    if isinstance(kind, list):
        return [{**shape, "type": item} if item != "null" else NULL for item in kind]
    if isinstance(values, list) and None in values:
        return [{"enum": [value for value in values if value is not None]}, NULL]
    return [shape]


def _values(shape: Shape) -> list[Json]:
    values = shape.get("enum", [])
    return values if isinstance(values, list) else []


def _enumerated(shapes: Sequence[Shape]) -> list[Shape]:
    """Return one shape for all the values that shapes list."""
    values = [value for shape in shapes for value in _values(shape)]
    if not values:
        return []
    if are_literals(values):
        return [enumeration_shape(values)]
    return [{"type": name} for name, kinds in SCALARS.items() if any(type(value) in kinds for value in values)]


def without_limits(shape: Shape) -> Shape:
    """Return a shape without limits, which are only possible for the direct value of a property."""
    return {key: value for key, value in shape.items() if key not in UNLIMITED}


def _distinct(shapes: Iterable[Shape]) -> list[Shape]:
    distinct: list[Shape] = []
    for shape in shapes:
        if shape and shape not in distinct:
            distinct.append(shape)
    return distinct


def is_simple_default(value: Json, shape: Shape) -> bool:
    """Tell whether a default is simple enough for a signature: a scalar, a list of such, an empty object."""
    return value is not None and any(_fits(value, member) for member in _split(without_notes(shape)))


def _fits(value: Json, shape: Shape) -> bool:
    if "enum" in shape:
        # By the type, too, since True and 1 are equal.
        return any(type(value) is type(item) and value == item for item in _values(shape))
    kind, items = shape.get("type"), shape.get("items")
    if isinstance(value, list):
        return kind == "array" and (
            not value or (isinstance(items, dict) and all(is_simple_default(item, items) for item in value))
        )
    if isinstance(value, dict):
        return kind == "object" and not value
    sound = not (isinstance(value, str) and SURROGATE.search(value))
    return sound and type(value) in SCALARS.get(str(kind), ())


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
    # Sorted, so that placeholders have the same numbers whatever the order of the keywords.
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
