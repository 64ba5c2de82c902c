"""What several schemas, all of which a value has to meet, say together of its type.

Nothing here may exclude a value that the schemas admit; what a model cannot say is left to the compiled validator.  So
of two statements that cannot be joined the first alone counts, which admits no less than both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.models.references import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mcpc.models.references import Library
    from mcpc.sources import Json

Parts = tuple[Part, ...]

KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")
"""The types of JSON Schema.  An integer goes before a boolean: of a union pydantic makes 1.0 the first that fits."""
UNIONS = ("anyOf", "oneOf")
EXPANDED = frozenset((*UNIONS, "allOf", "$ref"))
"""What was looked into when the alternatives of a value are known."""
ABOUT_TYPES = frozenset(
    (
        *("type", "enum", "const", "properties", "required", "items", "prefixItems", "additionalItems"),
        *("additionalProperties", "patternProperties", "unevaluatedProperties", "anyOf", "oneOf"),
    )
)
"""Keywords that say what a value is made of; the others only say which of such values are meant."""
APPLICATORS = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
LARGEST_UNION = 64


@dataclass(slots=True)
class Facts:
    """What is known of a value.

    `kinds`: the types it may have, in the order of KINDS.  `values`: the only values, None if there may be others.
    `branches`: alternatives, one of which it meets as well.  `extras`: what other properties hold, None if there are
    none.  `description` and `default` are those nearest to whoever refers to the value.
    """

    parts: Parts
    kinds: tuple[str, ...] = KINDS
    values: list[Json] | None = None
    branches: tuple[Parts, ...] = ()
    properties: dict[str, Parts] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extras: tuple[Parts, ...] | None = ((),)
    prefix: tuple[Parts, ...] = ()
    rest: Parts = ()
    closed_array: bool = False
    limits: dict[str, float] = field(default_factory=dict)
    description: str = ""
    default: Json = None


def gather(parts: Parts, library: Library) -> Facts:
    """Return what `parts` say together."""
    flat = tuple(_conjuncts(parts, library))
    telling = tuple(part for part in flat if not ABOUT_TYPES.isdisjoint(part.schema.keys() - part.done))
    facts = Facts(telling, description=first_text(flat, "description"))
    facts.default = next((part.schema["default"] for part in flat if "default" in part.schema), None)
    _join_types(facts)
    if "object" in facts.kinds:
        _join_objects(facts, library)
    if "array" in facts.kinds:
        _join_arrays(facts, library)
    facts.limits = _limits(flat)
    facts.branches = _branches(facts, library)
    return facts


def _conjuncts(parts: Parts, library: Library) -> Iterator[Part]:
    """Yield the parts, and what each says by reference or as a conjunction, once each."""
    seen: set[int] = set()
    waiting = list(reversed(parts))
    while waiting:
        part = waiting.pop()
        if id(part.schema) in seen:
            continue
        seen.add(id(part.schema))
        target = None if "$ref" in part.done else library.follow(part, part.schema.get("$ref"))
        if "$ref" in part.schema and library.is_legacy(part):
            waiting += [target] if target else []
            continue
        yield part
        more = [target, *(library.inside(part, one) for one in listed(part, "allOf"))]
        waiting += [one for one in reversed(more) if one]


def first_text(parts: Iterable[Part], key: str) -> str:
    """Return the first text that a keyword has."""
    return next((text for part in parts if isinstance(text := part.schema.get(key), str)), "")


def listed(part: Part, key: str) -> list[Json]:
    """Return the list that a keyword has, an empty one if it has none."""
    value = part.schema.get(key)
    return value if isinstance(value, list) and key not in part.done else []


def mapped(part: Part, key: str) -> dict[str, Json]:
    """Return the object that a keyword has, an empty one if it has none."""
    value = part.schema.get(key)
    return value if isinstance(value, dict) else {}


def _join_types(facts: Facts) -> None:
    kinds = set(KINDS)
    for part in facts.parts:
        kind = part.schema.get("type")
        named = {str(one) for one in (kind if isinstance(kind, list) else [kind]) if one is not None} or set(KINDS)
        kinds &= named | ({"integer"} if "number" in named else set())
        values = [part.schema["const"]] if "const" in part.schema else part.schema.get("enum")
        if isinstance(values, list) and facts.values is None:
            facts.values = values
    if facts.values is not None:
        kinds &= {_kind_of(value) for value in facts.values}
    elif "number" in kinds:
        kinds.discard("integer")
    facts.kinds = tuple(kind for kind in KINDS if kind in kinds)


def _kind_of(value: Json) -> str:
    if isinstance(value, float) and not value.is_integer():
        return "number"
    names = {str: "string", bool: "boolean", int: "integer", float: "integer", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _join_objects(facts: Facts, library: Library) -> None:
    required: dict[str, None] = {}
    for part in facts.parts:
        for name, value in mapped(part, "properties").items():
            inside = library.inside(part, value)
            facts.properties[name] = (*facts.properties.get(name, ()), *((inside,) if inside else ()))
        required |= {name: None for name in listed(part, "required") if isinstance(name, str)}
        extras = _extras(part, library)
        if extras is None or (facts.extras is not None and () in facts.extras):
            facts.extras = extras
    for name in required:
        facts.properties.setdefault(name, ())
    facts.required = frozenset(required)


def _extras(part: Part, library: Library) -> tuple[Parts, ...] | None:
    """Return what the properties without a name hold: each of several possibilities, None if there are none."""
    schema = part.schema
    others = schema.get("additionalProperties")
    if others is None and not any(key in schema for key in APPLICATORS):
        others = schema.get("unevaluatedProperties")
    found = [library.inside(part, one) for one in mapped(part, "patternProperties").values()]
    if others is not False:
        found.append(library.inside(part, others))
    return tuple((one,) if one else () for one in found) or None


def _join_arrays(facts: Facts, library: Library) -> None:
    for part in facts.parts:
        items, first = part.schema.get("items"), part.schema.get("prefixItems")
        if isinstance(items, list):
            first, items = items, part.schema.get("additionalItems")
        if facts.prefix or facts.rest or (first is None and items is None):
            continue
        found = [library.inside(part, one) for one in (first if isinstance(first, list) else [])]
        facts.prefix = tuple((one,) if one else () for one in found)
        rest = library.inside(part, items)
        facts.rest = (rest,) if rest else ()
        facts.closed_array = items is False


LIMITS: dict[str, Callable[[float, float], float]] = {
    "minimum": max,
    "exclusiveMinimum": max,
    "minLength": max,
    "minItems": max,
    "maximum": min,
    "exclusiveMaximum": min,
    "maxLength": min,
    "maxItems": min,
}
"""Bounds, and which of several counts."""


def _limits(parts: Sequence[Part]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        for key in LIMITS.keys() & part.schema.keys():
            value = part.schema[key]
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                found[key] = LIMITS[key](value, found.get(key, value))
    return found


def _branches(facts: Facts, library: Library) -> tuple[Parts, ...]:
    """Return the alternatives of the first union that says something of types, each with all else that is known."""
    for part in facts.parts:
        for key in UNIONS:
            if key not in part.schema:
                continue
            alternatives = [one for one in listed(part, key) if one is not False]
            inside = [library.inside(part, one) for one in alternatives]
            if any(one is not None and _tells(one, library) for one in inside):
                plain = tuple(part._replace(done=part.done | EXPANDED) for part in facts.parts)
                fits = len(alternatives) <= LARGEST_UNION
                return tuple((*plain, one) if one else plain for one in inside) if fits else ()
    return ()


def _tells(part: Part, library: Library) -> bool:
    """Say whether an alternative says more of types than that something is required."""
    return any(ABOUT_TYPES & (one.schema.keys() - {"required"}) for one in _conjuncts((part,), library))
