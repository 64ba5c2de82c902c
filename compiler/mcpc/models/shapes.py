"""The plain keywords of a view, and how several of them become one; see `mcpc.models.view`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.sources import Json

Shape = dict[str, "Json"]

NOTES = ("description", "default")
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
    """A schema that no model can be made of; the message says why."""


def visible(text: str) -> str:
    """Return a text without what has no place in source code."""
    return UNSEEN.sub(" ", text)


def without_notes(shape: Shape) -> Shape:
    """Return a shape without what is said of the place it is used in."""
    return {key: value for key, value in shape.items() if key not in NOTES}


def is_literal(values: Sequence[Json]) -> bool:
    """Say whether a model can have exactly these values: texts, whole numbers, truth values without numbers."""
    kinds = {type(value) for value in values}
    plain = kinds <= {str, int, bool, type(None)} and not {int, bool} <= kinds
    return plain and not any(isinstance(value, str) and SURROGATE.search(value) for value in values)


def literal_of(values: Sequence[Json]) -> Shape:
    """Return the shape of what has one of some values."""
    return {"type": "null"} if set(map(type, values)) == {type(None)} else {"enum": list(dict.fromkeys(values))}


NULL: Shape = {"type": "null"}
ROUNDED_UP = ("minimum", "exclusiveMaximum", "minLength", "minItems")
LIMITS: dict[str, tuple[str, ...]] = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
}
UNLIMITED = frozenset(key for keys in LIMITS.values() for key in keys)


def limited(kind: str, limits: Mapping[str, float]) -> Shape:
    """Return the shape of a type, with those limits that it has and a model can keep."""
    found = {key: limits[key] for key in LIMITS.get(kind, ()) if key in limits}
    if kind == "number":
        # A model compares binary numbers: a bound that is none would exclude values beside it.
        return {"type": kind, **{key: value for key, value in found.items() if _is_binary(value)}}
    return {"type": kind, **{key: _whole(key, value) for key, value in found.items()}}


def _is_binary(value: float) -> bool:
    return abs(value) <= 2**53 or float(value) == value


def _whole(key: str, value: float) -> int:
    return math.ceil(value) if key in ROUNDED_UP else math.floor(value)


def joined(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of what has one of several shapes; anything at all makes it anything.

    Where several are left they lose their limits, which would each want a class of its own.
    """
    members = [member for shape in shapes for member in _split(without_notes(shape))]
    if not all(members):
        return {}
    others = _distinct([member for member in members if member != NULL])
    if len(others) > 1:
        plain = [unlimited(shape) for shape in others if "enum" not in shape]
        others = _distinct([*plain, *_enumerated(others)])
    if NULL not in members:
        return one_of(others)
    if len(others) != 1:
        return one_of([*others, NULL])
    (only,) = others
    if "enum" in only:
        return {"enum": [*_values(only), None]}
    return {**only, "type": [only["type"], "null"]} if "type" in only else {"anyOf": [only, NULL]}


def one_of(members: Sequence[Shape]) -> Shape:
    """Return the shape of what has one of these shapes."""
    return dict(members[0]) if len(members) == 1 else {"anyOf": list(members)} if members else {}


def _split(shape: Shape) -> list[Shape]:
    """Return the alternatives of which a shape is made."""
    members, kind, values = shape.get("anyOf"), shape.get("type"), shape.get("enum")
    if isinstance(members, list):
        return members  # type: ignore[return-value]
    if isinstance(kind, list):
        return [{**shape, "type": one} if one != "null" else NULL for one in kind]
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
    if is_literal(values):
        return [literal_of(values)]
    return [{"type": name} for name, kinds in SCALARS.items() if any(type(value) in kinds for value in values)]


def unlimited(shape: Shape) -> Shape:
    """Return a shape without limits, which only what is the value of a property by itself can keep."""
    return {key: value for key, value in shape.items() if key not in UNLIMITED}


def _distinct(shapes: Iterable[Shape]) -> list[Shape]:
    found: list[Shape] = []
    for shape in shapes:
        if shape and shape not in found:
            found.append(shape)
    return found


def fits(value: Json, shape: Shape) -> bool:
    """Say whether a default is so plain that it can stand in a signature: a scalar, a list of such, an empty object."""
    return value is not None and any(_fits(value, member) for member in _split(without_notes(shape)))


def _fits(value: Json, shape: Shape) -> bool:
    if "enum" in shape:
        return any(type(value) is type(one) and value == one for one in _values(shape))
    kind, items = shape.get("type"), shape.get("items")
    if isinstance(value, list):
        return kind == "array" and (not value or (isinstance(items, dict) and all(fits(item, items) for item in value)))
    if isinstance(value, dict):
        return kind == "object" and not value
    sound = not (isinstance(value, str) and SURROGATE.search(value))
    return sound and type(value) in SCALARS.get(str(kind), ())
