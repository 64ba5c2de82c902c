"""A schema as a model sees it: a few plain keywords, one definition a class, every class named.

What is left out (patterns, formats, `not`, conditions, …) only says which of the values of a type are meant.  The view
admits every value that the schema admits, and is small enough that a generator of models has nothing to choose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.models.facts import APPLICATORS, first_text, gather
from mcpc.models.names import field_names, part
from mcpc.models.references import Library
from mcpc.models.shapes import (
    NoModelError,
    fits,
    is_literal,
    joined,
    limited,
    literal_of,
    unlimited,
    visible,
    without_notes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.ir import Schema
    from mcpc.models.facts import Facts, Parts
    from mcpc.models.shapes import Shape

    Key = tuple[object, ...]

OPEN = ("additionalProperties", "patternProperties", "unevaluatedProperties")
LARGEST, DEEPEST = 5_000, 60
"""How many schemas a model may be made of, and how deep they may lie in each other: references multiply without end."""


@dataclass(frozen=True, slots=True)
class View:
    """Definitions by the names of their classes; `fields`: `Class.property` to the name of its field."""

    definitions: dict[str, Shape]
    fields: dict[str, str] = field(default_factory=dict)


def view(schema: Schema, root: str) -> View:
    """Return what a model sees of a schema; raise NoModelError if a model cannot say it."""
    return Viewing(schema, root).result()


def nothing(root: str) -> View:
    """Return a view that admits every object."""
    return View({root: {"type": "object", "properties": {}, "additionalProperties": True}})


class Viewing:
    """The definitions found so far.

    A value is known by the schemas it has to meet.  `_classes` are those of objects that have properties; `_open` are
    others being shaped, and one that is met again inside itself gets a name, too.
    """

    def __init__(self, schema: Schema, root: str) -> None:
        self._library = Library(schema)
        self._closed = schema.closed
        self._root = root
        self._used = {root}
        self._definitions: dict[str, Shape] = {}
        self._classes: dict[Key, str] = {}
        self._names: dict[Key, str] = {}
        self._open: set[Key] = set()
        self._left = LARGEST

    def result(self) -> View:
        """Shape the root, which has a class whatever it is."""
        facts = gather((self._library.root,), self._library)
        if is_class(facts) or (facts.kinds == ("object",) and not facts.branches and not _is_map(facts)):
            self._classes[key_of(facts)] = self._root
            self._define(self._root, facts, 0)
        else:
            self._names[key_of(facts)] = self._root
            shape = self._shaped(facts, self._root, 0)
            self._definitions[self._root] = shape or nothing(self._root).definitions[self._root]
        fields = {
            f"{name}.{key}": identifier
            for name, shape in self._definitions.items()
            for key, identifier in field_names(shape.get("properties", ()), self._used).items()  # type: ignore[arg-type]
        }
        return View(self._definitions, fields)

    def _shape(self, parts: Parts, name: str, depth: int) -> Shape:
        """Return the shape of a schema inside another; `name`: what its class would be called."""
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            raise NoModelError("it unfolds to too many schemas")
        facts = gather(parts, self._library)
        shape = self._named_shape(facts, name, depth) if facts.parts else {}
        notes: Shape = {"default": facts.default} if fits(facts.default, shape) else {}
        own = self._definitions.get(str(shape.get("$ref")).rpartition("/")[2], {})
        if (text := visible(facts.description)) and text != own.get("description"):
            notes["description"] = text
        return without_notes(shape) | notes

    def _named_shape(self, facts: Facts, name: str, depth: int) -> Shape:
        if is_class(facts):
            return self._class(facts, name, depth)
        key = key_of(facts)
        if key in self._open:
            self._names.setdefault(key, "")
        if self._names.get(key) == "":
            self._names[key] = self._free(self._called(facts) or name)
        if key in self._names:
            return reference(self._names[key])
        self._open.add(key)
        shape = self._shaped(facts, name, depth)
        self._open.remove(key)
        if key not in self._names:
            return shape
        self._definitions[self._names[key]] = shape
        return reference(self._names[key])

    def _shaped(self, facts: Facts, name: str, depth: int) -> Shape:
        if facts.branches:
            names = variants([gather(branch, self._library) for branch in facts.branches], name)
            shapes = [self._shape(parts, one, depth + 1) for parts, one in zip(facts.branches, names, strict=True)]
            return joined(shapes)
        if facts.values and is_literal(facts.values):
            return literal_of(facts.values)
        kinds = [kind for kind in facts.kinds if kind != "integer" or "number" not in facts.kinds]
        return joined([self._of_kind(kind, facts, name, depth) for kind in kinds])

    def _of_kind(self, kind: str, facts: Facts, name: str, depth: int) -> Shape:
        known = facts.values is None
        if kind == "object":
            return self._object(facts, name, depth) if known else {"type": kind, "additionalProperties": True}
        if kind == "array":
            return limited(kind, facts.limits) | (self._items(facts, name, depth) if known else {"items": {}})
        return limited(kind, facts.limits)

    def _items(self, facts: Facts, name: str, depth: int) -> Shape:
        first = [self._shape(item, f"{name}Item{number}", depth + 1) for number, item in enumerate(facts.prefix, 1)]
        if facts.closed_array and first:
            return {"prefixItems": [unlimited(without_notes(shape)) for shape in first], "items": False}
        rest = {} if facts.closed_array else self._shape(facts.rest, f"{name}Item", depth + 1)
        return {"items": unlimited(joined([*first, rest]))}

    def _object(self, facts: Facts, name: str, depth: int) -> Shape:
        if facts.properties:
            return self._class(facts, name, depth)
        return {"type": "object", "additionalProperties": self._extras(facts, name, depth) or True}

    def _extras(self, facts: Facts, name: str, depth: int) -> Shape | None:
        """Return the shape of what the properties without a name hold, None if there are none."""
        if facts.extras is None:
            return None
        return unlimited(joined([self._shape(parts, f"{name}Value", depth + 1) for parts in facts.extras]))

    def _class(self, facts: Facts, name: str, depth: int) -> Shape:
        key = key_of(facts)
        if key not in self._classes:
            self._classes[key] = self._free(self._called(facts) or name)
            self._define(self._classes[key], facts, depth)
        return reference(self._classes[key])

    def _define(self, name: str, facts: Facts, depth: int) -> None:
        """Make the class of an object."""
        shape: Shape = self._definitions.setdefault(name, {"type": "object"})
        if text := visible(first_text(facts.parts, "description")):
            shape["description"] = text
        properties: Shape = {}
        for key, parts in facts.properties.items():
            if visible(key) != key and any("\ud800" <= character <= "\udfff" for character in key):
                raise NoModelError("the name of a property is no text")
            properties[key] = self._shape(parts, name + part(key), depth + 1)
        shape |= {"properties": properties, "required": [key for key in properties if key in facts.required]}
        others = None if name == self._root and self._is_closed() else self._extras(facts, name, depth)
        shape["additionalProperties"] = others or others is not None

    def _is_closed(self) -> bool:
        """Say whether arguments without a name are refused although the root does not say so."""
        return self._closed and self._library.root.schema.keys().isdisjoint((*APPLICATORS, *OPEN))

    def _called(self, facts: Facts) -> str:
        """Return the name for the class of what references call by one."""
        name = self._library.called.get(id(facts.parts[0].schema), "") if len(facts.parts) == 1 else ""
        return name and self._root + part(name)

    def _free(self, name: str) -> str:
        number, free = 2, name
        while free in self._used:
            free = f"{name}{number}"
            number += 1
        self._used.add(free)
        return free


def key_of(facts: Facts) -> Key:
    """Return what two descriptions of the same value have in common."""
    return tuple((id(part.schema), part.done) for part in facts.parts)


def is_class(facts: Facts) -> bool:
    """Say whether a value is an object with properties, and nothing else."""
    return facts.kinds == ("object",) and bool(facts.properties) and not facts.branches and facts.values is None


def _is_map(facts: Facts) -> bool:
    return not facts.properties and facts.extras is not None and () not in facts.extras


def reference(name: str) -> Shape:
    """Return the shape of what has a class."""
    return {"$ref": f"#/$defs/{name}"}


def variants(branches: Sequence[Facts], name: str) -> list[str]:
    """Return names for the classes of alternatives: by what tells them apart, else by their titles, else by number."""
    objects = [facts for facts in branches if facts.properties]
    if len(objects) < 2:
        return [name] * len(branches)
    labels = [_tag(facts) or first_text(facts.parts[::-1], "title") for facts in branches]
    return [name + (part(label) if label else str(number)) for number, label in enumerate(labels, 1)]


def _tag(facts: Facts) -> str:
    """Return the value of the first property that can have but one."""
    for parts in facts.properties.values():
        for one in parts:
            values = [one.schema["const"]] if "const" in one.schema else one.schema.get("enum")
            if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str):
                return values[0]
    return ""
