"""Random schemas and random values: both functions against the `jsonschema` library."""

from __future__ import annotations

import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas import compiled, explained, judge

SCHEMAS = 120
INSTANCES = 10
NAMES = ["a", "b", "c", "x1", "a/b", "é"]
SCALARS: list[Any] = [None, True, False, 0, 1, -1, 2, 1.0, 0.5, 2.5, 3, 10, "", "a", "b", "ab", "x1", "abc", "é", "😀"]
TYPES = ["null", "boolean", "object", "array", "number", "string", "integer"]
PATTERNS = ["^a", "b$", "[a-c]{2}", r"\d", "^.$", ""]


class Generator:
    """Everything random, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self, depth: int = 3) -> Any:
        """Return an instance."""
        choice = self.random.random()
        if depth == 0 or choice < 0.45:
            return self.random.choice(SCALARS)
        if choice < 0.7:
            return [self.value(depth - 1) for _ in range(self.random.randint(0, 4))]
        names = self.random.sample(NAMES, self.random.randint(0, 4))
        return {name: self.value(depth - 1) for name in names}

    def schema(self, depth: int = 3) -> Any:
        """Return a schema."""
        if self.random.random() < 0.06:
            return self.random.random() < 0.7
        rows = {**LEAVES, **(BRANCHES if depth else {})}
        keywords = self.random.sample(list(rows), min(len(rows), self.random.choice([1, 1, 2, 2, 3, 4, 6])))
        return {keyword: rows[keyword](self, depth - 1) for keyword in keywords}

    def names(self) -> list[str]:
        """Return some property names."""
        return self.random.sample(NAMES, self.random.randint(0, 3))

    def many(self, depth: int) -> list[Any]:
        """Return some schemas."""
        return [self.schema(depth) for _ in range(self.random.randint(1, 3))]


def number(generator: Generator, _depth: int) -> Any:
    return generator.random.choice([0, 1, 2, 2.5, -1, 3, 0.5])


def count(generator: Generator, _depth: int) -> Any:
    return generator.random.choice([0, 1, 1, 2, 2.0, 3])


def one(generator: Generator, depth: int) -> Any:
    return generator.schema(depth)


def many(generator: Generator, depth: int) -> Any:
    return generator.many(depth)


def by_name(generator: Generator, depth: int) -> Any:
    return {name: generator.schema(depth) for name in generator.names()}


LEAVES: dict[str, Any] = {
    "type": lambda g, _: g.random.choice([g.random.choice(TYPES), g.random.sample(TYPES, g.random.randint(1, 3))]),
    "enum": lambda g, _: [g.value(2) for _ in range(g.random.randint(1, 8))],
    "const": lambda g, _: g.value(2),
    "minimum": number,
    "maximum": number,
    "exclusiveMinimum": number,
    "exclusiveMaximum": number,
    "multipleOf": lambda g, _: g.random.choice([1, 2, 0.5, 0.25]),
    "minLength": count,
    "maxLength": count,
    "pattern": lambda g, _: g.random.choice(PATTERNS),
    "minItems": count,
    "maxItems": count,
    "uniqueItems": lambda g, _: g.random.random() < 0.8,
    "minProperties": count,
    "maxProperties": count,
    "required": lambda g, _: g.names(),
    "dependentRequired": lambda g, _: {name: g.names() for name in g.names()},
    "minContains": count,
    "maxContains": count,
    "title": lambda _g, _: "t",
    "$ref": lambda g, _: f"#/$defs/{g.random.choice('pqr')}",
}
BRANCHES: dict[str, Any] = {
    "properties": by_name,
    "patternProperties": lambda g, d: {g.random.choice(PATTERNS): g.schema(d) for _ in range(2)},
    "additionalProperties": one,
    "propertyNames": one,
    "dependentSchemas": by_name,
    "items": one,
    "prefixItems": many,
    "contains": one,
    "allOf": many,
    "anyOf": many,
    "oneOf": many,
    "not": one,
    "if": one,
    "then": one,
    "else": one,
}


def whole(generator: Generator) -> dict[str, Any]:
    """Return a schema with `$defs`; `p` steps into the value before it comes back, so nothing is endless."""
    root = generator.schema()
    plain = {keyword: LEAVES[keyword](generator, 0) for keyword in generator.random.sample(list(LEAVES)[:-1], 2)}
    step = {generator.random.choice(["items", "additionalProperties"]): {"$ref": "#/$defs/p"}}
    tree = {**step, "type": generator.random.sample(TYPES, 4)}
    definitions = {"p": tree, "q": plain, "r": {"anyOf": [{"$ref": "#/$defs/q"}, {"$ref": "#/$defs/p"}]}}
    return {**(root if isinstance(root, dict) else {"not": {} if not root else False}), "$defs": definitions}


@pytest.mark.parametrize("seed", range(4))
def test_both_functions_answer_as_the_library_does(seed: int) -> None:
    generator = Generator(seed)
    answers = {True: 0, False: 0}
    for _ in range(SCHEMAS):
        schema = whole(generator)
        modules = compiled(schema)
        library = Draft202012Validator(schema)
        for _ in range(INSTANCES):
            instance = generator.value()
            answer, _ = judge(modules, instance)
            assert answer is library.is_valid(instance), f"{schema}\n{explained(modules, instance)}"
            answers[answer] += 1
    assert min(answers.values()) > SCHEMAS
