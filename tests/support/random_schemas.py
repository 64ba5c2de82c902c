"""Random schemas of every draft and keyword; the same seed gives the same ones.

A schema is made of rows, one a keyword.  References lead to definitions `p` to `s`, by whatever name these have: a
pointer, an anchor, a resource of their own.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = Any

BASE = "https://example.com/"
ROOT = f"{BASE}root"
DEFINITIONS = "pqrs"
DEPTH = 3
NAMES = ("a", "b", "c", "x1", "a/b", "~0", "é", "", "$ref", "constructor", "0")
TEXTS = (
    *("", "a", "b", "ab", "ba", "abc", "x1", "1", "é", "e\u0301", "😀", "😀😀", "a\n", "\r", "ab\u2028", "A_1", " ", "a b"),
    *("\u00a0", "\u0661", "ß", "foo\rbar"),
)  # fmt: skip
NUMBERS = (
    *(0, 1, -1, 2, 3, 5, 10, 100, 1.0, 2.0, -1.0, 0.5, 2.5, -0.5, 0.1, 0.3, 0.01, 19.99, 1e-7, 4.35, 1e15, 1e16, 1e22),
    *(-0.0, 1e308, -1e308, 5e-324, 1e-300, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**64 + 1, 10**30, -(10**40)),
)
SCALARS = (None, True, False, *NUMBERS, *TEXTS)
BOUNDS = (0, 1, 2, 3, -1, 2.5, 0.5, 1.0, 10, 1e308, -1e308, 2**53, 2**64, 0.1, -0.0)
DIVISORS = (1, 2, 3, 0.5, 0.1, 0.01, 2.5, 1e-7, 1.0, 7, 1e308, 1e-300, 2**53, 0.0001)
TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")
PATTERNS = (
    *("^a", "b$", "^.$", "^.*b$", "", "[a-c]{2}", r"\d", r"\D", r"^\w+$", r"\W", r"\s", r"^\S*$", "(a|b)c?", "^(?:ab)*$"),
    *(r"\p{L}", r"^\P{L}", "[^a]", "a(?=b)", "a(?!b)", r"\u0061", r"[\d\s]", "^$", "(?<!a)b", r"a\/b"),
    *(r"^[\w-]+$", "é", "^x|1$", r"\bb", r"[^\W\d]"),
)  # fmt: skip
FORMATS = ("date", "email", "uuid", "no-such-format")


@dataclass(frozen=True, slots=True)
class Draft:
    """What the drafts differ in, as far as schemas are made differently."""

    name: str
    uri: str
    definitions: str
    absent: tuple[str, ...]
    more: tuple[str, ...] = ()


DRAFTS = {
    draft.name: draft for draft in (
        Draft(
            "draft2020-12", "https://json-schema.org/draft/2020-12/schema", "$defs",
            ("additionalItems", "dependencies", "items by place"),
        ),
        Draft("draft2019-09", "https://json-schema.org/draft/2019-09/schema", "$defs", ("prefixItems", "dependencies")),
        Draft(
            "draft7", "http://json-schema.org/draft-07/schema#", "definitions",
            (
                *("prefixItems", "dependentRequired", "dependentSchemas", "minContains", "maxContains"),
                *("unevaluatedItems", "unevaluatedProperties"),
            ),
        ),
    )
}  # fmt: skip


class Generator:
    """Everything random, from one seed."""

    def __init__(self, seed: int | str, draft: str = "draft2020-12") -> None:
        self.random = random.Random(seed)
        self.draft = DRAFTS[draft]
        self.rows = {name: row for name, row in ROWS.items() if name not in self.draft.absent}
        self.leaves = [name for name in self.rows if name not in DEEP]
        self.references: list[Json] = []

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def value(self, depth: int = DEPTH) -> Json:
        choice = self.random.random()
        if depth == 0 or choice < 0.45:
            return self.random.choice(SCALARS)
        if choice < 0.7:
            return [self.value(depth - 1) for _ in range(self.random.randint(0, 4))]
        return {name: self.value(depth - 1) for name in self.names(4)}

    def names(self, most: int = 3) -> list[str]:
        return self.random.sample(NAMES[:6] if self.often(0.8) else NAMES, self.random.randint(0, most))

    def schema(self, depth: int = DEPTH) -> Json:
        """Return a schema; where it is deep, one without others in it."""
        if self.often(0.06):
            return self.often(0.7)
        rows = list(self.rows) if depth > 0 else self.leaves
        keywords = self.random.sample(rows, self.random.choice((1, 1, 2, 2, 3, 4, 6)))
        schema: dict[str, Json] = {}
        for keyword in keywords:
            schema.update(self.rows[keyword](self, depth - 1))
        return schema

    def schemas(self, depth: int, most: int = 3) -> list[Json]:
        return [self.schema(depth) for _ in range(self.random.randint(1, most))]

    def by_name(self, depth: int) -> dict[str, Json]:
        return {name: self.schema(depth) for name in self.names()}

    def whole(self) -> Json:
        """Return a schema with definitions."""
        definitions = plain(self) if self.often(0.4) else WHOLE[self.draft.name](self)
        root = as_object(self.schema())
        if "$id" in definitions and self.draft.name == "draft7":
            root.pop("$ref", None)  # beside which its `$id` would count for nothing
        return {"$schema": self.draft.uri, **root, **definitions}


def leaf(keyword: str, values: tuple[Json, ...]) -> Callable[[Generator, int], dict[str, Json]]:
    return lambda g, _: {keyword: g.random.choice(values)}


def one(keyword: str) -> Callable[[Generator, int], dict[str, Json]]:
    return lambda g, depth: {keyword: g.schema(depth)}


def many(keyword: str) -> Callable[[Generator, int], dict[str, Json]]:
    return lambda g, depth: {keyword: g.schemas(depth)}


def types(g: Generator, _depth: int) -> dict[str, Json]:
    return {"type": g.random.choice(TYPES) if g.often(0.6) else g.random.sample(TYPES, g.random.randint(1, 3))}


def contains(g: Generator, depth: int) -> dict[str, Json]:
    counts = {name: g.random.choice((0, 1, 2, 2.0)) for name in ("minContains", "maxContains") if g.often(0.5)}
    known = {name: count for name, count in counts.items() if name in g.rows}
    return {"contains": g.schema(depth), **known}


def condition(g: Generator, depth: int) -> dict[str, Json]:
    return {"if": g.schema(depth), **{name: g.schema(depth) for name in ("then", "else") if g.often(0.7)}}


def patterns(g: Generator, depth: int) -> dict[str, Json]:
    return {"patternProperties": {g.random.choice(PATTERNS): g.schema(depth) for _ in range(g.random.randint(1, 2))}}


def dependencies(g: Generator, depth: int) -> dict[str, Json]:
    return {"dependencies": {name: g.names() if g.often(0.5) else g.schema(depth) for name in g.names()}}


def reference(g: Generator, _depth: int) -> dict[str, Json]:
    return dict(g.random.choice(g.references)) if g.references else {}


COUNTS = (0, 1, 1, 2, 2.0, 3)
ROWS: dict[str, Callable[[Generator, int], dict[str, Json]]] = {
    "type": types, "enum": lambda g,
    _: {"enum": unique([g.value(2) for _ in range(g.random.randint(1, 8))])},
    "const": lambda g, _: {"const": g.value(2)}, "minimum": leaf("minimum", BOUNDS), "maximum": leaf("maximum", BOUNDS),
    "exclusiveMinimum": leaf("exclusiveMinimum", BOUNDS),
    "exclusiveMaximum": leaf("exclusiveMaximum", BOUNDS),
    "multipleOf": leaf("multipleOf", DIVISORS), "minLength": leaf("minLength", COUNTS),
    "maxLength": leaf("maxLength", COUNTS), "pattern": leaf("pattern", PATTERNS), "minItems": leaf("minItems", COUNTS),
    "maxItems": leaf("maxItems", COUNTS),
    "uniqueItems": leaf("uniqueItems", (True, True, True, False)),
    "minProperties": leaf("minProperties", COUNTS),
    "maxProperties": leaf("maxProperties", COUNTS),
    "required": lambda g, _: {"required": g.names()}, "dependentRequired": lambda g,
    _: {"dependentRequired": {name: g.names() for name in g.names()}},
    "minContains": leaf("minContains", COUNTS), "maxContains": leaf("maxContains", COUNTS),
    "format": leaf("format", FORMATS), "title": leaf("title", ("t",)), "default": lambda g, _: {"default": g.value(1)},
    "reference": reference, "another reference": reference, "properties": lambda g,
    depth: {"properties": g.by_name(depth)},
    "patternProperties": patterns, "additionalProperties": one("additionalProperties"),
    "propertyNames": one("propertyNames"), "dependentSchemas": lambda g,
    depth: {"dependentSchemas": g.by_name(depth)},
    "dependencies": dependencies, "items": one("items"), "items by place": many("items"),
    "additionalItems": one("additionalItems"), "prefixItems": many("prefixItems"), "contains": contains,
    "allOf": many("allOf"), "anyOf": many("anyOf"), "oneOf": many("oneOf"), "not": one("not"), "if": condition,
    "then": one("then"), "unevaluatedItems": one("unevaluatedItems"),
    "unevaluatedProperties": one("unevaluatedProperties"),
}  # fmt: skip
"""By keyword, or by a name for a row without one."""
DEEP = tuple(list(ROWS)[list(ROWS).index("properties") :])


def unique(values: list[Json]) -> list[Json]:
    """Return the values without those that JSON Schema holds for equal: the metaschemas ask for it."""
    kept: list[Json] = []
    for value in values:
        if not any(same(value, other) for other in kept):
            kept.append(value)
    return kept


def same(one: Json, other: Json) -> bool:
    """Tell whether two values are equal in JSON Schema: numbers by value, and a boolean is not a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return bool(one == other)


def plain(g: Generator) -> dict[str, Json]:
    """Return definitions that are referred to by pointers only, as most schemas have them."""
    key = g.draft.definitions
    g.references = [{"$ref": "#"}, *({"$ref": f"#/{key}/{name}"} for name in DEFINITIONS)]
    return {key: {name: g.schema(2) for name in DEFINITIONS}}


def definitions_2020(g: Generator) -> dict[str, Json]:
    """Return definitions with anchors, some of them resources in which the dynamic anchor `node` means another schema."""
    g.references = []
    resources = [name for name in DEFINITIONS if g.often(0.3)]
    for name in DEFINITIONS:
        at = [f"{BASE}{name}"] if name in resources else [f"{ROOT}#/$defs/{name}", f"{ROOT}#{name}"]
        g.references += [{"$ref": target} for target in at]
        if name in resources:
            g.references += [{"$dynamicRef": f"{BASE}{name}#node"}, {"$ref": f"{BASE}{name}#node"}]
    g.references += [{"$ref": ROOT}, {"$dynamicRef": f"{ROOT}#node"}, {"$dynamicRef": "#node"}]
    definitions: dict[str, Json] = {}
    for name in DEFINITIONS:
        schema = as_object(g.schema(2))
        if name in resources:
            inner = {"$dynamicAnchor": "node", **as_object(g.schema(1))}
            definitions[name] = {**schema, "$id": name, "$defs": {"inner": inner}}
        else:
            definitions[name] = {**schema, "$anchor": name}
    anchor = {"$dynamicAnchor": "node"}
    if g.often(0.5):
        return {"$id": ROOT, "$defs": definitions, **anchor}
    return {"$id": ROOT, "$defs": {**definitions, "node": {**as_object(g.schema(1)), **anchor}}}


def definitions_2019(g: Generator) -> dict[str, Json]:
    """Return definitions, some of them resources that take part in `$recursiveRef`."""
    g.references = []
    resources = [name for name in DEFINITIONS if g.often(0.3)]
    for name in DEFINITIONS:
        at = [f"{BASE}{name}"] if name in resources else [f"{ROOT}#/$defs/{name}", f"{ROOT}#{name}"]
        g.references += [{"$ref": target} for target in at]
    g.references += [{"$ref": ROOT}, {"$recursiveRef": "#"}]
    definitions: dict[str, Json] = {}
    for name in DEFINITIONS:
        named = {"$id": name, "$recursiveAnchor": g.often(0.7)} if name in resources else {"$anchor": name}
        definitions[name] = {**as_object(g.schema(2)), **named}
    return {"$id": ROOT, "$defs": definitions, **({"$recursiveAnchor": True} if g.often(0.5) else {})}


def definitions_07(g: Generator) -> dict[str, Json]:
    """Return definitions; `$id` names a place or a resource, and says nothing beside `$ref`."""
    g.references = []
    kinds = {name: g.random.choice(("pointer", "name", "resource")) for name in DEFINITIONS}
    targets = {"pointer": f"{ROOT}#/definitions/%s", "name": f"{ROOT}#%s", "resource": f"{BASE}%s"}
    g.references = [{"$ref": targets[kind] % name} for name, kind in kinds.items()]
    g.references += [{"$ref": ROOT}, {"$ref": f"{ROOT}#/definitions/p"}]
    own = {"pointer": None, "name": "#%s", "resource": "%s"}
    definitions: dict[str, Json] = {}
    for name, kind in kinds.items():
        schema = as_object(g.schema(2))
        if kind != "pointer":
            schema.pop("$ref", None)
            schema["$id"] = str(own[kind]) % name
        definitions[name] = schema
    return {"$id": ROOT, "definitions": definitions}


WHOLE = {"draft2020-12": definitions_2020, "draft2019-09": definitions_2019, "draft7": definitions_07}


def as_object(schema: Json) -> dict[str, Json]:
    return dict(schema) if isinstance(schema, dict) else {} if schema else {"not": {}}
