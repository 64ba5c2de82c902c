"""Properties of a value that must satisfy several schemas together.

The compiled validator is exact about references (`mcpc.schema.resources`); a model only types what is found.

No value that the schemas accept may be excluded; what a model cannot express is left to the compiled validator.  So of
two constraints that cannot be combined only the first is used, which accepts no less than both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mcpc.schema.resources import resolve_uri, uri_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mcpc.model.ir import Schema
    from mcpc.reading import Json

LEGACY_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")
"""Dialects in which keywords beside a `$ref` are ignored."""
MAPS = frozenset(("$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"))
OTHERS = frozenset(
    (
        *("allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalItems", "unevaluatedItems"),
        *("additionalProperties", "unevaluatedProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    )
)
MAX_DEPTH = 200
"""Maximum depth of the search for names."""


class SchemaPart(NamedTuple):
    """A schema, the base URI of its references, and its keywords that were processed."""

    schema: dict[str, Json]
    base: str
    done: frozenset[str] = frozenset()


class SchemaLibrary:
    """The schemas that a schema may refer to: itself and its subschemas; `lower` added those of other files.

    `called`: the names of those that were referred to, by identity.
    """

    def __init__(self, schema: Schema) -> None:
        self._resources: dict[str, SchemaPart] = {}
        self._names: dict[tuple[str, str], SchemaPart] = {}
        self._legacy: set[str] = set()
        self.called: dict[int, str] = {}
        root = schema.value if isinstance(schema.value, dict) else {}
        self.root = self._add_document(SchemaPart(root, uri_of_file(schema.node.path)))

    def is_legacy(self, part: SchemaPart) -> bool:
        """Tell whether keywords beside a `$ref` are ignored here."""
        return part.base in self._legacy

    def inside(self, part: SchemaPart, value: Json) -> SchemaPart | None:
        """Return a subschema; None for one without keywords."""
        if not isinstance(value, dict) or not value:
            return None
        name = value.get("$id")
        base = resolve_uri(part.base, name)[0] if isinstance(name, str) else part.base
        return SchemaPart(value, base if base in self._resources else part.base)

    def follow(self, part: SchemaPart, reference: Json) -> SchemaPart | None:
        """Return the target of a reference in `part`, if it is found."""
        if not isinstance(reference, str):
            return None
        uri, fragment = resolve_uri(part.base, reference)
        target = self._resources.get(uri)
        if target and fragment:
            target = self._place(target, fragment) if fragment[0] == "/" else self._names.get((target.base, fragment))
        if target:
            self.called.setdefault(id(target.schema), fragment.rpartition("/")[2] or uri.rpartition("/")[2])
        return target

    def _place(self, part: SchemaPart, pointer: str) -> SchemaPart | None:
        value: Json = part.schema
        for token in pointer.split("/")[1:]:
            part = self.inside(part, value) or part
            value = _child_value(value, token.replace("~1", "/").replace("~0", "~"))
        return self.inside(part, value)

    def _add_document(self, root: SchemaPart) -> SchemaPart:
        """Record a document, and every name in it."""
        self._resources[root.base] = top = self._add_names(root)
        waiting = [(child, 0) for child in _children(top)]
        while waiting:
            part, depth = waiting.pop()
            part = self._add_names(part)
            waiting += [(child, depth + 1) for child in _children(part)] if depth < MAX_DEPTH else []
        return top

    def _add_names(self, part: SchemaPart) -> SchemaPart:
        """Record a schema's names, and return it with its URI."""
        schema, base = part.schema, part.base
        legacy = base in self._legacy
        name, fragment = schema.get("$id"), ""
        if isinstance(name, str) and not ("$ref" in schema and legacy):
            base, fragment = resolve_uri(base, name)
            part = SchemaPart(schema, base)
            if not fragment:
                self._resources.setdefault(base, part)
        if legacy or any(draft in str(schema.get("$schema", "")) for draft in LEGACY_DRAFTS):
            self._legacy.add(base)
        for anchor in (fragment, schema.get("$anchor"), schema.get("$dynamicAnchor")):
            if isinstance(anchor, str) and anchor:
                self._names.setdefault((base, anchor), part)
        return part


def _children(part: SchemaPart) -> Iterator[SchemaPart]:
    """Yield the direct subschemas."""
    for key, value in part.schema.items():
        if key in MAPS and isinstance(value, dict):
            yield from (SchemaPart(child, part.base) for child in value.values() if isinstance(child, dict))
        elif key in OTHERS and isinstance(value, list):
            yield from (SchemaPart(child, part.base) for child in value if isinstance(child, dict))
        elif key in OTHERS and isinstance(value, dict):
            yield SchemaPart(value, part.base)


def _child_value(value: Json, token: str) -> Json:
    if isinstance(value, dict):
        return value.get(token)
    # No list has so many items that their numbers have ten digits, and Python refuses to read very long ones.
    if isinstance(value, list) and token.isdecimal() and len(token) < 10 and int(token) < len(value):
        return value[int(token)]
    return None


Parts = tuple[SchemaPart, ...]

KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")
"""The types of JSON Schema.  An integer precedes a boolean: of a union, pydantic converts 1.0 to the first that accepts
it.
"""
UNIONS = ("anyOf", "oneOf")
EXPANDED = frozenset((*UNIONS, "allOf", "$ref"))
"""Keywords that are expanded when the alternatives of a value are determined."""
TYPE_KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "properties", "required", "items", "prefixItems", "additionalItems"),
        *("additionalProperties", "patternProperties", "unevaluatedProperties", "anyOf", "oneOf"),
    )
)
"""Keywords that determine the type of a value; others only restrict values of that type."""
APPLICATORS = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
MAX_UNION = 64


@dataclass(slots=True)
class SchemaFacts:
    """Properties of a value.

    `kinds`: the allowed types, in the order of KINDS.  `values`: the only allowed values, None if there may be others.
    `branches`: alternatives, one of which it also satisfies.  `extras`: the schemas of other properties, None if they
    are not allowed.  `description` and `default` are those nearest to the reference.
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


def gather_facts(parts: Parts, library: SchemaLibrary) -> SchemaFacts:
    """Return the combined properties of `parts`."""
    flat = tuple(_conjuncts(parts, library))
    telling = tuple(part for part in flat if not TYPE_KEYWORDS.isdisjoint(part.schema.keys() - part.done))
    facts = SchemaFacts(telling, description=first_text(flat, "description"))
    facts.default = next((part.schema["default"] for part in flat if "default" in part.schema), None)
    _join_types(facts)
    if "object" in facts.kinds:
        _join_objects(facts, library)
    if "array" in facts.kinds:
        _join_arrays(facts, library)
    facts.limits = _limits(flat)
    facts.branches = _branches(facts, library)
    return facts


def _conjuncts(parts: Parts, library: SchemaLibrary) -> Iterator[SchemaPart]:
    """Yield the parts, and those that each adds by reference or as a conjunction, once each."""
    # By identity: equal schemas may have different bases.
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
        more = [target, *(library.inside(part, item) for item in list_value(part, "allOf"))]
        waiting += [item for item in reversed(more) if item]


def first_text(parts: Iterable[SchemaPart], key: str) -> str:
    """Return the first string of a keyword."""
    return next((text for part in parts if isinstance(text := part.schema.get(key), str)), "")


def list_value(part: SchemaPart, key: str) -> list[Json]:
    """Return the list of a keyword, an empty one if it has none."""
    value = part.schema.get(key)
    return value if isinstance(value, list) and key not in part.done else []


def object_value(part: SchemaPart, key: str) -> dict[str, Json]:
    """Return the object of a keyword, an empty one if it has none."""
    value = part.schema.get(key)
    return value if isinstance(value, dict) else {}


def _join_types(facts: SchemaFacts) -> None:
    kinds = set(KINDS)
    for part in facts.parts:
        kind = part.schema.get("type")
        named = {str(item) for item in (kind if isinstance(kind, list) else [kind]) if item is not None} or set(KINDS)
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


def _join_objects(facts: SchemaFacts, library: SchemaLibrary) -> None:
    required: dict[str, None] = {}
    for part in facts.parts:
        for name, value in object_value(part, "properties").items():
            inside = library.inside(part, value)
            facts.properties[name] = (*facts.properties.get(name, ()), *((inside,) if inside else ()))
        required |= {name: None for name in list_value(part, "required") if isinstance(name, str)}
        extras = _extras(part, library)
        # `()` among them stands for any value: whatever another part says is tighter.
        if extras is None or (facts.extras is not None and () in facts.extras):
            facts.extras = extras
    for name in required:
        facts.properties.setdefault(name, ())
    facts.required = frozenset(required)


def _extras(part: SchemaPart, library: SchemaLibrary) -> tuple[Parts, ...] | None:
    """Return the schemas of unnamed properties: each of several possibilities, None if they are not allowed."""
    schema = part.schema
    others = schema.get("additionalProperties")
    if others is None and not any(key in schema for key in APPLICATORS):
        others = schema.get("unevaluatedProperties")
    parts = [library.inside(part, item) for item in object_value(part, "patternProperties").values()]
    if others is not False:
        parts.append(library.inside(part, others))
    return tuple((item,) if item else () for item in parts) or None


def _join_arrays(facts: SchemaFacts, library: SchemaLibrary) -> None:
    for part in facts.parts:
        items, first = part.schema.get("items"), part.schema.get("prefixItems")
        if isinstance(items, list):
            first, items = items, part.schema.get("additionalItems")
        if facts.prefix or facts.rest or (first is None and items is None):
            continue
        parts = [library.inside(part, item) for item in (first if isinstance(first, list) else [])]
        facts.prefix = tuple((item,) if item else () for item in parts)
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
"""Bounds, and how several are combined."""


def _limits(parts: Sequence[SchemaPart]) -> dict[str, float]:
    limits: dict[str, float] = {}
    for part in parts:
        for key in LIMITS.keys() & part.schema.keys():
            value = part.schema[key]
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                limits[key] = LIMITS[key](value, limits.get(key, value))
    return limits


def _branches(facts: SchemaFacts, library: SchemaLibrary) -> tuple[Parts, ...]:
    """Return the alternatives of the first union that determines types, each with all other constraints."""
    for part in facts.parts:
        for key in UNIONS:
            if key not in part.schema:
                continue
            alternatives = [item for item in list_value(part, key) if item is not False]
            inside = [library.inside(part, alternative) for alternative in alternatives]
            if any(item is not None and _determines_types(item, library) for item in inside):
                # Expanded once: the alternatives of these parts would be found again in each case.
                plain = tuple(part._replace(done=part.done | EXPANDED) for part in facts.parts)
                fits = len(alternatives) <= MAX_UNION
                return tuple((*plain, item) if item else plain for item in inside) if fits else ()
    return ()


def _determines_types(part: SchemaPart, library: SchemaLibrary) -> bool:
    """Tell whether an alternative determines more about types than a required property."""
    return any(TYPE_KEYWORDS & (item.schema.keys() - {"required"}) for item in _conjuncts((part,), library))
