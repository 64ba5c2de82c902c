"""Random pairs of schemas, an old one and what a release may have made of it, and values on which they differ."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from referencing import Registry

from mcpc.release.comparison.placed_schemas import CHECKER
from mcpc.schema.dialects import DRAFT_BY_NAME
from mcpc.schema.jsonschema_oracle import DRAFTS, is_valid
from support.random_schemas import Generator, as_object, plain
from support.random_values import Values

Json = Any

SINGLE = ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else")
LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs")
COUNTED = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
UNCOMPARED = ("unevaluatedItems", "unevaluatedProperties", "$dynamicRef")


class Pairs:
    """A generator of pairs; `is_usual`: with the keywords that tools use, most with properties."""

    def __init__(self, seed: int, *, is_usual: bool) -> None:
        self.g = Generator(f"pair {seed}")
        self.is_usual = is_usual
        if is_usual:
            self.g.rows = {name: row for name, row in self.g.rows.items() if name not in UNCOMPARED}
            self.g.leaves = [name for name in self.g.leaves if name in self.g.rows]

    def pair(self) -> tuple[Json, Json]:
        """Return an old schema and a new one."""
        made = self.tool if self.is_usual else self.g.whole
        old = made()
        if self.g.often(0.1):
            return old, made()
        new = copy.deepcopy(old)
        for _ in range(self.g.random.choice((1, 1, 1, 2, 3))):
            self.change(self.g.random.choice([*subschemas(new)]))
        return old, new

    def tool(self) -> Json:
        """Return a schema of an object with properties."""
        definitions = plain(self.g)
        properties = {name: self.g.schema(2) for name in self.g.names(3)}
        names = [name for name in properties if self.g.often(0.4)]
        found = {"type": "object", "properties": properties, **({"required": names} if names else {})}
        if self.g.often(0.4):
            found["additionalProperties"] = False
        if self.g.often(0.2):
            found.update(as_object(self.g.schema(1)))
        return {**found, **definitions}

    def change(self, schema: dict[str, Json]) -> None:
        keywords = [name for name in schema if not name.startswith("$")]
        choice = self.g.random.random()
        if keywords and choice < 0.3:
            del schema[self.g.random.choice(keywords)]
        elif keywords and choice < 0.7:
            name = self.g.random.choice(keywords)
            schema[name] = self.altered(name, schema[name])
        else:
            schema.update({key: each for key, each in as_object(self.g.schema(1)).items() if not key.startswith("$")})

    def altered(self, name: str, value: Json) -> Json:
        random = self.g.random
        if name in COUNTED:
            return max(0, int(value) + random.choice((-1, 1)))
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float) and name != "multipleOf":
            return value + random.choice((-1, 1, 0.5))
        if isinstance(value, list) and value and name not in ("type", *LISTED):
            return [each for each in value if self.g.often(0.6)] or value[:1]
        if isinstance(value, dict) and value and name in ("properties", "dependentRequired"):
            gone = random.choice([*value])
            return {key: each for key, each in value.items() if key != gone}
        fresh = self.g.rows[name](self.g, 1) if name in self.g.rows else {}
        return fresh.get(name, value)


def subschemas(schema: Json) -> Iterator[dict[str, Json]]:
    if not isinstance(schema, dict):
        return
    yield schema
    for name, value in schema.items():
        if name in SINGLE:
            yield from subschemas(value)
        elif name in LISTED and isinstance(value, list):
            for each in value:
                yield from subschemas(each)
        elif name in NAMED and isinstance(value, dict):
            for each in value.values():
                yield from subschemas(each)


def judge(schema: Json, *, formats: bool) -> Callable[[Json], bool]:
    """Return what accepts the values that `jsonschema` accepts."""
    draft = DRAFTS[DRAFT_BY_NAME["draft2020-12"].uri]
    validator = draft(schema, registry=Registry(), format_checker=CHECKER if formats else None)
    return lambda value: is_valid(validator, value, 200)


def counterexamples(old: Json, new: Json, seed: int, count: int) -> Iterator[Json]:
    """Yield sampled values that only the old schema accepts, whether or not formats are asserted."""
    g = Generator(f"value {seed}")
    sources = (Values(g, old), Values(g, new))
    judges = [(judge(old, formats=formats), judge(new, formats=formats)) for formats in (False, True)]
    for number in range(count):
        value = sources[number % 2].one()
        for accepts, still_accepts in judges:
            if accepts(value) and not still_accepts(value):
                yield value
                break
