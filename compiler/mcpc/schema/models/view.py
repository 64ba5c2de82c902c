"""Simplified schemas for models: a few plain keywords, one definition for each class, every class named.

What is omitted (patterns, formats, `not`, conditions, …) only restricts values of a type.  The view accepts every value
that the schema accepts, and is simple enough that a generator of models has no alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.schema.models.names import field_names, part_name
from mcpc.schema.models.schema_facts import APPLICATORS, SchemaLibrary, first_text, gather_facts
from mcpc.schema.models.view_schemas import (
    NoModelError,
    are_literals,
    enumeration_shape,
    is_simple_default,
    limited_type,
    union_of,
    visible_text,
    without_limits,
    without_notes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.model.ir import Schema
    from mcpc.schema.models.schema_facts import Parts, SchemaFacts
    from mcpc.schema.models.view_schemas import Shape

    Key = tuple[object, ...]

OPEN = ("additionalProperties", "patternProperties", "unevaluatedProperties")
MAX_SCHEMAS, MAX_DEPTH = 5_000, 60
"""Maximum number of schemas of a model, and their maximum depth: expanded references multiply without limit."""


@dataclass(frozen=True, slots=True)
class ModelSchema:
    """Definitions by the names of their classes; `fields`: `Class.property` to the name of its field."""

    definitions: dict[str, Shape]
    fields: dict[str, str] = field(default_factory=dict)


def model_schema(schema: Schema, root: str) -> ModelSchema:
    """Return the view of a schema; raise NoModelError if a model cannot express it."""
    return ModelSchemaBuilder(schema, root).result()


def any_object_schema(root: str) -> ModelSchema:
    """Return a view that accepts every object."""
    return ModelSchema({root: {"type": "object", "properties": {}, "additionalProperties": True}})


class ModelSchemaBuilder:
    """The definitions found so far.

    A value is identified by the schemas it must satisfy.  `_classes` are those of objects with properties; `_open` are
    others in progress, and a recursive one gets a name, too.
    """

    def __init__(self, schema: Schema, root: str) -> None:
        self._library = SchemaLibrary(schema)
        self._closed = schema.closed
        self._root = root
        self._used = {root}
        self._definitions: dict[str, Shape] = {}
        self._classes: dict[Key, str] = {}
        self._names: dict[Key, str] = {}
        self._open: set[Key] = set()
        self._left = MAX_SCHEMAS

    def result(self) -> ModelSchema:
        """Return the view; the root always has a class."""
        facts = gather_facts((self._library.root,), self._library)
        if is_object_class(facts) or (facts.kinds == ("object",) and not facts.branches and not _is_map(facts)):
            self._classes[identity(facts)] = self._root
            self._define(self._root, facts, 0)
        else:
            self._names[identity(facts)] = self._root
            shape = self._shaped(facts, self._root, 0)
            self._definitions[self._root] = shape or any_object_schema(self._root).definitions[self._root]
        fields = {
            f"{name}.{key}": identifier
            for name, shape in self._definitions.items()
            for key, identifier in field_names(shape.get("properties", ()), self._used).items()  # type: ignore[arg-type]
        }
        return ModelSchema(self._definitions, fields)

    def _shape(self, parts: Parts, name: str, depth: int) -> Shape:
        """Return the shape of a subschema; `name`: the name for its class."""
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise NoModelError("its references unfold to too many schemas")
        facts = gather_facts(parts, self._library)
        shape = self._named_shape(facts, name, depth) if facts.parts else {}
        notes: Shape = {"default": facts.default} if is_simple_default(facts.default, shape) else {}
        own = self._definitions.get(str(shape.get("$ref")).rpartition("/")[2], {})
        # A class that says the same already needs no second text.
        if (text := visible_text(facts.description)) and text != own.get("description"):
            notes["description"] = text
        return without_notes(shape) | notes

    def _named_shape(self, facts: SchemaFacts, name: str, depth: int) -> Shape:
        if is_object_class(facts):
            return self._class(facts, name, depth)
        key = identity(facts)
        # A value inside itself gets a name by which it can refer to itself.
        if key in self._open:
            self._names.setdefault(key, "")
        if self._names.get(key) == "":
            self._names[key] = self._free(self._called(facts) or name)
        if key in self._names:
            return class_reference(self._names[key])
        self._open.add(key)
        shape = self._shaped(facts, name, depth)
        self._open.remove(key)
        if key not in self._names:
            return shape
        self._definitions[self._names[key]] = shape
        return class_reference(self._names[key])

    def _shaped(self, facts: SchemaFacts, name: str, depth: int) -> Shape:
        if facts.branches:
            names = variant_names([gather_facts(branch, self._library) for branch in facts.branches], name)
            shapes = [self._shape(parts, item, depth + 1) for parts, item in zip(facts.branches, names, strict=True)]
            return union_of(shapes)
        if facts.values and are_literals(facts.values):
            return enumeration_shape(facts.values)
        kinds = [kind for kind in facts.kinds if kind != "integer" or "number" not in facts.kinds]
        return union_of([self._of_kind(kind, facts, name, depth) for kind in kinds])

    def _of_kind(self, kind: str, facts: SchemaFacts, name: str, depth: int) -> Shape:
        known = facts.values is None
        if kind == "object":
            return self._object(facts, name, depth) if known else {"type": kind, "additionalProperties": True}
        if kind == "array":
            return limited_type(kind, facts.limits) | (self._items(facts, name, depth) if known else {"items": {}})
        return limited_type(kind, facts.limits)

    def _items(self, facts: SchemaFacts, name: str, depth: int) -> Shape:
        first = [self._shape(item, f"{name}Item{number}", depth + 1) for number, item in enumerate(facts.prefix, 1)]
        if facts.closed_array and first:
            return {"prefixItems": [without_limits(without_notes(shape)) for shape in first], "items": False}
        rest = {} if facts.closed_array else self._shape(facts.rest, f"{name}Item", depth + 1)
        return {"items": without_limits(union_of([*first, rest]))}

    def _object(self, facts: SchemaFacts, name: str, depth: int) -> Shape:
        if facts.properties:
            return self._class(facts, name, depth)
        return {"type": "object", "additionalProperties": self._extras(facts, name, depth) or True}

    def _extras(self, facts: SchemaFacts, name: str, depth: int) -> Shape | None:
        """Return the shape of unnamed properties, None if they are not allowed."""
        if facts.extras is None:
            return None
        return without_limits(union_of([self._shape(parts, f"{name}Value", depth + 1) for parts in facts.extras]))

    def _class(self, facts: SchemaFacts, name: str, depth: int) -> Shape:
        key = identity(facts)
        if key not in self._classes:
            self._classes[key] = self._free(self._called(facts) or name)
            self._define(self._classes[key], facts, depth)
        return class_reference(self._classes[key])

    def _define(self, name: str, facts: SchemaFacts, depth: int) -> None:
        """Add the class of an object."""
        # It has its place before the classes of its properties.
        shape: Shape = self._definitions.setdefault(name, {"type": "object"})
        if text := visible_text(first_text(facts.parts, "description")):
            shape["description"] = text
        properties: Shape = {}
        for key, parts in facts.properties.items():
            if visible_text(key) != key and any("\ud800" <= character <= "\udfff" for character in key):
                raise NoModelError("the name of a property is not a string")
            properties[key] = self._shape(parts, name + part_name(key), depth + 1)
        shape |= {"properties": properties, "required": [key for key in properties if key in facts.required]}
        others = None if name == self._root and self._is_closed() else self._extras(facts, name, depth)
        # An empty shape, which accepts everything, becomes true, and None false.
        shape["additionalProperties"] = others or others is not None

    def _is_closed(self) -> bool:
        """Tell whether unnamed arguments are refused although the root does not say so."""
        return self._closed and self._library.root.schema.keys().isdisjoint((*APPLICATORS, *OPEN))

    def _called(self, facts: SchemaFacts) -> str:
        """Return the name for the class of a schema that references name."""
        name = self._library.called.get(id(facts.parts[0].schema), "") if len(facts.parts) == 1 else ""
        return name and self._root + part_name(name)

    def _free(self, name: str) -> str:
        number, free = 2, name
        while free in self._used:
            free = f"{name}{number}"
            number += 1
        self._used.add(free)
        return free


def identity(facts: SchemaFacts) -> Key:
    """Return the identity of a value."""
    return tuple((id(part.schema), part.done) for part in facts.parts)


def is_object_class(facts: SchemaFacts) -> bool:
    """Tell whether a value is always an object with properties."""
    return facts.kinds == ("object",) and bool(facts.properties) and not facts.branches and facts.values is None


def _is_map(facts: SchemaFacts) -> bool:
    return not facts.properties and facts.extras is not None and () not in facts.extras


def class_reference(name: str) -> Shape:
    """Return the shape of a value with a class."""
    return {"$ref": f"#/$defs/{name}"}


def variant_names(branches: Sequence[SchemaFacts], name: str) -> list[str]:
    """Return names for the classes of alternatives: by their tags, else by their titles, else by number."""
    objects = [facts for facts in branches if facts.properties]
    if len(objects) < 2:
        return [name] * len(branches)
    # The last part is the alternative itself; those before it are the same in all of them.
    labels = [_tag(facts) or first_text(facts.parts[::-1], "title") for facts in branches]
    return [name + (part_name(label) if label else str(number)) for number, label in enumerate(labels, 1)]


def _tag(facts: SchemaFacts) -> str:
    """Return the value of the first property with only one possible value."""
    for parts in facts.properties.values():
        for part in parts:
            values = [part.schema["const"]] if "const" in part.schema else part.schema.get("enum")
            if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str):
                return values[0]
    return ""
