"""Random values that often fit a schema, and almost fit it more often."""

from collections.abc import Callable
from typing import Any

from support.random_schemas import NAMES, NUMBERS, TEXTS, Generator

Json = Any


class Values:
    """Values for one schema: what its keywords seem to ask for, changed here and there, or anything at all."""

    def __init__(self, generator: Generator, schema: Json) -> None:
        self.g = generator
        self.root = schema
        self.definitions = schema.get(generator.draft.definitions, {}) if isinstance(schema, dict) else {}

    def one(self) -> Json:
        if self.g.often(0.3):
            return self.g.value()
        value = self.fitting(self.root, 5)
        for _ in range(self.g.random.choice((0, 0, 1, 1, 2))):
            value = self.changed(value)
        return value

    def fitting(self, schema: Json, depth: int) -> Json:
        """Return what some of the keywords of `schema` ask for."""
        if not isinstance(schema, dict) or depth == 0:
            return self.g.value(max(depth, 1) - 1)
        sources = [name for name in SUGGESTIONS if name in schema]
        if sources and self.g.often(0.8):
            return SUGGESTIONS[self.g.random.choice(sources)](self, schema, depth)
        return self.g.value(min(depth, 2))

    def changed(self, value: Json) -> Json:
        """Return `value` with one thing in it changed."""
        if isinstance(value, list) and value and self.g.often(0.8):
            at = self.g.random.randrange(len(value))
            return CHANGES[self.g.random.randrange(len(CHANGES))](self, value, at)
        if isinstance(value, dict) and value and self.g.often(0.8):
            name = self.g.random.choice(list(value))
            rest = {key: item for key, item in value.items() if key != name}
            other = self.g.random.choice((name, name, self.g.random.choice(NAMES)))
            return rest if self.g.often(0.3) else {**rest, other: self.changed(value[name])}
        return (
            self.g.random.choice(TWINS.get(repr(value), ()))
            if repr(value) in TWINS and self.g.often(0.5)
            else (self.g.value(2))
        )


def replaced(values: Values, value: list[Json], at: int) -> Json:
    return [*value[:at], values.changed(value[at]), *value[at + 1 :]]


def removed(_values: Values, value: list[Json], at: int) -> Json:
    return value[:at] + value[at + 1 :]


def repeated(_values: Values, value: list[Json], at: int) -> Json:
    return [*value, value[at]]


CHANGES = (replaced, replaced, removed, repeated)
TWINS: dict[str, tuple[Json, ...]] = {
    "1": (1.0, True, 2), "1.0": (1, True), "0": (-0.0, False, 0.0), "True": (1, False), "False": (0, True),
    "''": ([], None), "[]": ({}, None), "{}": ([],), "None": ("", False),
}  # fmt: skip
"""What is easily taken for something else."""


def an_object(values: Values, schema: Json, depth: int) -> Json:
    named = schema.get("properties", {})
    names = [*named, *schema.get("required", ()), *(values.g.names(2) if values.g.often(0.5) else ())]
    chosen = [name for name in dict.fromkeys(names) if values.g.often(0.75)]
    others = schema.get("additionalProperties", schema.get("unevaluatedProperties", {}))
    return {name: values.fitting(named.get(name, others), depth - 1) for name in chosen}


def an_array(values: Values, schema: Json, depth: int) -> Json:
    by_place = schema.get("prefixItems", schema.get("items"))
    first = [values.fitting(item, depth - 1) for item in by_place] if isinstance(by_place, list) else []
    rest = schema.get(
        "items", schema.get("additionalItems", schema.get("contains", schema.get("unevaluatedItems", {})))
    )
    more = [values.fitting(rest, depth - 1) for _ in range(values.g.random.randint(0, 3))]
    return first[: values.g.random.randint(0, 4)] + more


def of_type(values: Values, schema: Json, depth: int) -> Json:
    named = schema["type"]
    kind = named if isinstance(named, str) else values.g.random.choice(named)
    return OF_TYPE[kind](values, schema, depth)


def referred(values: Values, schema: Json, depth: int) -> Json:
    name = str(schema["$ref"]).rpartition("/")[2].rpartition("#")[2]
    return values.fitting(values.definitions.get(name, values.root), depth - 1)


def a_branch(keyword: str) -> Callable[[Values, Json, int], Json]:
    """Return what makes a value of one of the schemas, together with what stands beside them if both are objects."""

    def made(values: Values, schema: Json, depth: int) -> Json:
        value = values.fitting(values.g.random.choice(schema[keyword]), depth - 1)
        beside = values.fitting({name: item for name, item in schema.items() if name != keyword}, depth - 1)
        return {**beside, **value} if isinstance(value, dict) and isinstance(beside, dict) else value

    return made


OF_TYPE: dict[str, Callable[[Values, Json, int], Json]] = {
    "null": lambda *_: None,
    "boolean": lambda values, *_: values.g.often(0.5),
    "object": an_object,
    "array": an_array,
    "number": lambda values, *_: values.g.random.choice(NUMBERS),
    "string": lambda values, *_: values.g.random.choice(TEXTS),
    "integer": lambda values, *_: values.g.random.choice((0, 1, 2, 3, 1.0, -5, 2**64, 1e15)),
}
SUGGESTIONS: dict[str, Callable[[Values, Json, int], Json]] = {
    "const": lambda values, schema, _: schema["const"], "enum": lambda values, schema,
    _: values.g.random.choice(schema["enum"]), "type": of_type, "$ref": referred, "anyOf": a_branch("anyOf"),
    "oneOf": a_branch("oneOf"), "allOf": a_branch("allOf"), "properties": an_object, "required": an_object,
    "dependentRequired": an_object, "dependentSchemas": an_object, "patternProperties": an_object,
    "additionalProperties": an_object, "unevaluatedProperties": an_object, "propertyNames": an_object,
    "items": an_array, "prefixItems": an_array, "contains": an_array, "uniqueItems": an_array,
    "unevaluatedItems": an_array, "minimum": OF_TYPE["number"], "multipleOf": OF_TYPE["number"],
    "pattern": OF_TYPE["string"], "minLength": OF_TYPE["string"], "if": lambda values, schema,
    depth: values.fitting(
        schema[values.g.random.choice([name for name in ("if", "then", "else") if name in schema])],
        depth - 1,
    ),
}  # fmt: skip
