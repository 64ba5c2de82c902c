"""Schemas that mean to keep a build busy for ever, or to exhaust its memory or its stack.

Each is JSON text of one tool's input schema, made when it is asked for: some are as large as a file may be.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from mcpc.schema.keywords import MAX_NAMES
from support.scale import scaled

Json = Any

LEVELS = 30
"""Doubled so often, one becomes 2 to the 30th."""
MIB = 1 << 20
FULL = 63 * MIB
"""Nearly as large as a file of a project may be."""
LARGE = scaled(FULL, 16 * MIB)
"""The same in a quarter of the time: one schema of the full size shows what a build needs at most."""
MANY = scaled(100_000, 30_000)
"""Of what is many: a time that grows with its square is too long with either."""


@dataclass(frozen=True, slots=True)
class Hostile:
    """A schema, and what should become of it.

    `codes`: what a refusal may be called; none if it is merely large, and has to be built.  `arguments`: of a call that
    a server has to answer without delay, if there is one; `fits`: whether they do.
    """

    text: Callable[[], str]
    codes: tuple[str, ...] = ()
    arguments: Json = None
    fits: bool = False


def written(schema: Json) -> Callable[[], str]:
    return lambda: json.dumps(schema, separators=(",", ":"))


def of(**members: Json) -> Json:
    """Return the schema of an object with one property, `x`, defined by `d0`."""
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": members}


def to(number: int) -> Json:
    return {"$ref": f"#/$defs/d{number}"}


def doubled(level: Callable[[Json, int], Json], leaf: Json, count: int = LEVELS) -> Callable[[], str]:
    """Return levels of definitions, each made of two references to the next."""
    levels = {f"d{number}": level(to(number + 1), number) for number in range(count)}
    return written(of(**levels, **{f"d{count}": leaf}))


def nested(before: str, inside: str, after: str, depth: int = 100_000) -> Callable[[], str]:
    return lambda: f'{{"type":"object","properties":{{"x":{before * depth}{inside}{after * depth}}}}}'


def full(before: str, each: Callable[[int], str], after: str, size: int = FULL) -> Callable[[], str]:
    """Return a schema with as many parts as make `size` bytes."""

    def text() -> str:
        count = size // (len(each(10_000_000)) + 1)
        return f"{before}{','.join(map(each, range(count)))}{after}"

    return text


def with_property(keyword: str, size: int, value: Callable[[int], Json]) -> Callable[[], str]:
    """Return a schema whose property `x` has a large value for a keyword."""
    return lambda: json.dumps({"type": "object", "properties": {"x": {keyword: value(size)}}})


def chain(
    count: int, step: Callable[[Json], Json], numbers: Callable[[int], Iterable[int]] = range
) -> Callable[[], str]:
    """Return definitions of which each leads to the next."""
    return lambda: json.dumps(
        of(**{f"d{n}": step(to(n + 1)) for n in numbers(count)}, **{f"d{count}": {"type": "null"}})
    )


def all_to_all(count: int, each: int, keyword: str) -> Callable[[], str]:
    """Return definitions of which each refers to many others, or to all."""

    def text() -> str:
        others = [[to((number * 7 + step) % count) for step in range(each)] for number in range(count)]
        if keyword == "properties":
            named = [{f"p{index}": schema for index, schema in enumerate(row)} for row in others]
            return json.dumps(of(**{f"d{number}": {"properties": row} for number, row in enumerate(named)}))
        return json.dumps(of(**{f"d{number}": {keyword: row} for number, row in enumerate(others)}))

    return text


def maze(count: int) -> Callable[[], str]:
    """Return resources through or around which a path may lead; each gives another meaning to an anchor of the last."""
    resources: dict[str, Json] = {}
    for number in range(count):
        onward = {"$ref": f"level{number + 1}"}
        resources[f"level{number}"] = {
            "$id": f"level{number}",
            "properties": {"around": onward, "through": {"$ref": f"room{number}"}},
        }
        resources[f"room{number}"] = {
            "$id": f"room{number}",
            "$defs": {"own": {"$dynamicAnchor": f"a{number}", "minimum": number}},
            "properties": {"on": onward},
        }
    anchors = {f"d{number}": {"$dynamicAnchor": f"a{number}"} for number in range(count)}
    asked = {f"q{number}": {"$dynamicRef": f"#a{number}"} for number in range(count)}
    resources[f"level{count}"] = {"$id": f"level{count}", "$defs": anchors, "properties": asked}
    root = {"$id": "https://example.com/root", "type": "object", "properties": {"x": {"$ref": "level0"}}}
    return written({**root, "$defs": resources})


def beside(depth: int, inner: Json) -> Json:
    """Return alternatives one inside the other."""
    for number in range(depth):
        inner = {"properties": {f"p{number}": True}, "anyOf": [inner, {"required": [f"p{number}"]}]}
    return inner


def unevaluated(depth: int) -> Json:
    """Return schemas one inside the other, of which each asks what those inside have not judged."""
    inner: Json = {"properties": {"p0": True}}
    for number in range(1, depth):
        inner = {"properties": {f"p{number}": True}, "allOf": [inner], "unevaluatedProperties": number % 2 == 1}
    return inner


def pattern(text: str) -> Callable[[], str]:
    return written({"type": "object", "properties": {"x": {"type": "string", "pattern": text}}})


def within(depth: int) -> Json:
    """Return arrays one inside the other."""
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


def root_of(keyword: str, value: Json) -> Json:
    return {"type": "object", "properties": {"x": {keyword: value}}}


TOO_MUCH = ("MCP008",)
ENDLESS = ("MCP117",)
PATTERN = ("MCP114", "MCP008", "MCP118", "MCP119")
NUMBER = ("MCP007", "MCP110", "MCP008")

DOUBLED: dict[str, tuple[Callable[[Json, int], Json], Json, Json]] = {
    "anyOf": (lambda to, _: {"anyOf": [to, to]}, {"type": "integer"}, "no"),
    "allOf": (lambda to, _: {"allOf": [to, to]}, {"type": "integer"}, 1),
    "oneOf": (lambda to, _: {"oneOf": [to, to]}, {"type": "integer"}, 1),
    "anyOf, each a little different": (lambda to, n: {"anyOf": [to, {"minimum": n, **to}]}, {"type": "integer"}, "no"),
    "if": (lambda to, n: {"if": to, "then": {"minimum": n, **to}, "else": {**to, "maximum": n}}, {"type": "integer"}, 1),
    "not": (lambda to, n: {"not": {"not": {"allOf": [to, {"minimum": -n, **to}]}}}, {"type": "integer"}, 1),
    "dependentSchemas": (lambda to, _: {"dependentSchemas": {"a": to, "b": to}}, {"type": "object"}, {"a": 1, "b": 1}),
    "anyOf below unevaluatedProperties": (
        lambda to,
        n: {"anyOf": [to, {"minProperties": n % 2, **to}], **({} if n else {"unevaluatedProperties": False})},
        {"properties": {"a": True}},
        {"a": 1},
    ),
    "allOf with a default": (lambda to, n: {"allOf": [to, to], **({} if n else {"default": 1})}, {"type": "integer"}, 1),
}  # fmt: skip

HOSTILE: dict[str, Hostile] = {
    **{
        f"2^30 {name}": Hostile(doubled(level, leaf), TOO_MUCH, {"x": argument})
        for name, (level, leaf, argument) in DOUBLED.items()
    },
    "2^30 properties": Hostile(
        doubled(lambda to, _: {"properties": {"a": to, "b": to}}, {"type": "integer"}),
        (),
        {"x": {"a": {"b": {}}}},
        True,
    ),
    "2^30 prefixItems": Hostile(
        doubled(lambda to, _: {"prefixItems": [to, to], "minItems": 1}, {"type": "integer"}), (), {"x": [[]]}
    ),
    "100,000 deep: properties": Hostile(nested('{"properties":{"a":', "{}", "}}"), TOO_MUCH),
    "100,000 deep: items": Hostile(nested('{"items":', "{}", "}"), TOO_MUCH),
    "100,000 deep: prefixItems": Hostile(nested('{"prefixItems":[', "{}", "]}"), TOO_MUCH),
    "100,000 deep: anyOf": Hostile(nested('{"anyOf":[', "{}", "]}"), TOO_MUCH),
    "100,000 deep: not": Hostile(nested('{"not":', "{}", "}"), TOO_MUCH),
    "100,000 deep: const": Hostile(nested("", '{"const":' + "[" * 100_000 + "]" * 100_000 + "}", ""), TOO_MUCH),
    "100,000 deep, never closed": Hostile(
        lambda: '{"type":"object","properties":{"x":' + '{"items":' * 100_000, ("MCP008", "MCP002")
    ),
    "as deep as JSON may be: items": Hostile(nested('{"items":', '{"type":"null"}', "}", 500), TOO_MUCH),
    "as deep as JSON may be: anyOf": Hostile(nested('{"anyOf":[', '{"type":"null"}', "]}", 250), TOO_MUCH),
    "large: a long text": Hostile(lambda: '{"type":"object","description":"' + "x" * LARGE + '"}', TOO_MUCH),
    "64 MiB: properties": Hostile(
        full('{"type":"object","properties":{', lambda n: f'"p{n}":{{"type":"string"}}', "}}"), TOO_MUCH
    ),
    "large: properties": Hostile(
        full('{"type":"object","properties":{', lambda n: f'"p{n}":{{"type":"string"}}', "}}", LARGE), TOO_MUCH
    ),
    "large: items of enum": Hostile(full('{"type":"object","properties":{"x":{"enum":[', str, "]}}}", LARGE), TOO_MUCH),
    "large: words no schema has": Hostile(
        full('{"type":"object",', lambda n: f'"additionalProperties{n}":1', "}", LARGE), TOO_MUCH
    ),
    "1 MiB: words no schema has": Hostile(
        full('{"type":"object",', lambda n: f'"additionalProperties{n}":1', "}", MIB), TOO_MUCH
    ),
    "large: no JSON": Hostile(
        full('{"type":"object","properties":{', lambda n: f"'p{n}':1", "}}", LARGE), ("MCP002", "MCP008")
    ),
    "endless $ref: itself": Hostile(written(of(d0=to(0))), ENDLESS),
    "endless $ref: the root": Hostile(written({"type": "object", "$ref": "#"}), ENDLESS),
    "endless $ref: two": Hostile(written(of(d0=to(1), d1=to(0))), ENDLESS),
    "endless $ref: below anyOf": Hostile(
        written(of(d0={"anyOf": [{"type": "null"}, to(1)]}, d1={"not": to(0)})), ENDLESS
    ),
    "endless $ref: below if": Hostile(written(of(d0={"if": True, "then": to(0)})), ENDLESS),
    "endless $ref: below dependentSchemas": Hostile(written(of(d0={"dependentSchemas": {"a": to(0)}})), ENDLESS),
    "endless $dynamicRef": Hostile(
        written({"type": "object", "properties": {"x": {"$dynamicAnchor": "a", "$dynamicRef": "#a"}}}), ENDLESS
    ),
    "endless $dynamicRef of two": Hostile(
        written(
            of(
                d0={"$id": "one", "$dynamicAnchor": "a", "$ref": "two"},
                d1={"$id": "two", "$dynamicAnchor": "a", "$dynamicRef": "#a"},
            )
        ),
        ENDLESS,
    ),
    "a chain of very many $ref": Hostile(chain(MANY, lambda to: to), TOO_MUCH),
    "a chain of very many properties": Hostile(chain(MANY, lambda to: {"properties": {"a": to}}), TOO_MUCH),
    "a ring of very many properties": Hostile(
        lambda: json.dumps(of(**{f"d{n}": {"properties": {"a": to((n + 1) % MANY)}} for n in range(MANY)})), TOO_MUCH
    ),
    "1,000 definitions, each refers to all": Hostile(all_to_all(1_000, 1_000, "properties"), TOO_MUCH),
    "100 definitions, each refers to all": Hostile(
        all_to_all(100, 100, "properties"), (), {"x": {"p1": {"p2": 1}}}, True
    ),
    **{
        f"alternatives that go the same way, {depth} deep": Hostile(
            written(
                of(
                    d0={
                        "anyOf": [
                            {"type": "array", "items": to(0), "maxItems": 3},
                            {"type": "array", "items": to(0), "minItems": 1},
                        ]
                    }
                )
            ),
            (),
            {"x": within(depth)},
        )
        for depth in (20, 60)
    },
    "a maze of $dynamicRef": Hostile(maze(LEVELS), TOO_MUCH),
    "unevaluatedProperties over 300 nested anyOf": Hostile(
        lambda: json.dumps({"type": "object", "unevaluatedProperties": False, "anyOf": [beside(300, {})]}), TOO_MUCH
    ),
    "unevaluatedProperties over a chain of 1,000 anyOf": Hostile(
        lambda: json.dumps(
            {
                **of(
                    **{
                        f"d{n}": {"properties": {f"p{n}": True}, "anyOf": [to(n + 1), {"required": [f"p{n}"]}]}
                        for n in range(1_000)
                    },
                    d1000={},
                ),
                "unevaluatedProperties": False,
            }
        ),
        TOO_MUCH,
    ),
    "unevaluatedProperties over 1,000 anyOf side by side": Hostile(
        lambda: json.dumps(
            {
                "type": "object",
                "unevaluatedProperties": False,
                "anyOf": [{"properties": {f"p{number}": True}, "required": [f"p{number}"]} for number in range(1_000)],
            }
        ),
        (),
        {"p999": 1},
        True,
    ),
    "unevaluatedProperties at each of 100 levels": Hostile(
        lambda: json.dumps({"type": "object", **unevaluated(100)}), (), {"p99": 1}, True
    ),
    "a pattern of 1 MB: text": Hostile(pattern("a" * 1_000_000), PATTERN, {"x": "a"}),
    "a pattern of 1 MB: groups side by side": Hostile(pattern("(a)" * 333_333), PATTERN, {"x": "a"}),
    "a pattern of 1 MB: groups inside each other": Hostile(pattern("(" * 500_000 + ")" * 500_000), PATTERN, {"x": "a"}),
    "a pattern of 1 MB: one class": Hostile(
        pattern("[" + "".join(map(chr, range(0x4E00, 0x9FFF))) * 15 + "]"), PATTERN
    ),
    "a pattern of 1 MB: Unicode properties": Hostile(pattern(r"\p{L}" * 200_000), PATTERN, {"x": "a"}),
    "a pattern of 1 MB: Unicode properties in one class": Hostile(
        pattern("[" + r"\p{L}\P{Lu}" * 90_000 + "]"), PATTERN
    ),
    "a pattern of 1 MB: open brackets": Hostile(pattern("[" * 1_000_000), PATTERN, {"x": "a"}),
    "a pattern of 10 kB: Unicode properties": Hostile(pattern(r"\p{L}" * 2_000), PATTERN, {"x": "a"}),
    "a pattern: counted counts": Hostile(
        pattern("^" + "(" * 6 + "a" + "{1,1000})" * 6 + "$"), PATTERN, {"x": "a"}, True
    ),
    "a pattern: a count without end": Hostile(pattern("a{1," + "9" * 100_000 + "}"), PATTERN, {"x": "a"}),
    "a pattern: 5,000 nested groups": Hostile(pattern("(?:" * 5_000 + "a" + ")" * 5_000), PATTERN, {"x": "a"}),
    "very many patternProperties": Hostile(
        lambda: json.dumps(
            {"type": "object", "patternProperties": {f"^p{number}$": {"type": "null"} for number in range(MANY)}}
        ),
        TOO_MUCH,
    ),
    "enum of 1,000,000 numbers": Hostile(with_property("enum", 1_000_000, lambda size: list(range(size))), TOO_MUCH),
    "enum of 1,000,000 objects": Hostile(
        with_property("enum", 1_000_000, lambda size: [{"a": number} for number in range(size)]), TOO_MUCH
    ),
    "enum of 5,000 objects": Hostile(
        with_property("enum", 5_000, lambda size: [{"a": [number]} for number in range(size)]),
        (),
        {"x": {"a": [4999]}},
        True,
    ),
    "required: 1,000,000 names": Hostile(
        lambda: json.dumps({"type": "object", "required": [f"p{number}" for number in range(1_000_000)]}), TOO_MUCH
    ),
    "required: 300,000 names": Hostile(
        lambda: json.dumps({"type": "object", "required": [f"p{number}" for number in range(300_000)]}), TOO_MUCH
    ),
    "required: as many names as may be": Hostile(
        lambda: json.dumps({"type": "object", "required": [f"p{number}" for number in range(MAX_NAMES)]}), (), {}
    ),
    "dependentRequired: 300 by 1,000": Hostile(
        lambda: json.dumps(
            {
                "type": "object",
                "dependentRequired": {f"p{one}": [f"p{other}" for other in range(1_000)] for one in range(300)},
            }
        ),
        TOO_MUCH,
    ),
    "dependencies: very many names": Hostile(
        lambda: json.dumps(
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "dependencies": {f"p{number}": ["p"] for number in range(MANY)},
            }
        ),
        TOO_MUCH,
    ),
    "enum of very many names": Hostile(
        with_property("enum", MANY, lambda size: [f"n{number}" for number in range(size)]), (), {"x": "n"}
    ),
    "type: 1,000,000 names": Hostile(
        with_property("type", 1_000_000, lambda size: [f"t{number}" for number in range(size)]), ("MCP110", "MCP008")
    ),
    "dependentRequired: 1,000 by 1,000": Hostile(
        lambda: json.dumps(
            {
                "type": "object",
                "dependentRequired": {f"p{one}": [f"p{other}" for other in range(1_000)] for one in range(1_000)},
            }
        ),
        TOO_MUCH,
    ),
    "very many schemas of allOf": Hostile(
        with_property("allOf", MANY, lambda size: [{"minimum": number} for number in range(size)]), TOO_MUCH
    ),
    "oneOf: 300 of 300": Hostile(
        with_property(
            "oneOf", 300, lambda size: [{"oneOf": [{"const": [a, b]} for b in range(size)]} for a in range(size)]
        ),
        TOO_MUCH,
        {"x": [299, 299]},
        True,
    ),
    "very many resources": Hostile(
        lambda: json.dumps(of(d0={}, **{f"a{number}": {"$id": f"a{number}"} for number in range(MANY)})), TOO_MUCH
    ),
    "one anchor 10,000 times": Hostile(
        lambda: json.dumps(of(d0={}, **{f"a{number}": {"$anchor": "a"} for number in range(10_000)})),
        ("MCP110", "MCP008", "MCP120"),
    ),
    "a name of 1 MB": Hostile(
        lambda: json.dumps(
            {"type": "object", "properties": {"p" * 1_000_000: {"type": "null"}}, "required": ["p" * 1_000_000]}
        ),
        TOO_MUCH,
    ),
    "a $ref of 1 MB": Hostile(written(root_of("$ref", "#" + "/a" * 500_000)), ("MCP113", "MCP008")),
    "a $ref of escapes": Hostile(written(root_of("$ref", "#/" + "%7E0" * 250_000)), ("MCP113", "MCP008")),
    **{
        f"{keyword}: {text[:20]}": Hostile(
            lambda keyword=keyword, text=text: f'{{"type":"object","properties":{{"x":{{"{keyword}":{text}}}}}}}',  # type: ignore[misc]
            NUMBER,
            {"x": argument},
            fits,
        )
        for keyword, text, argument, fits in (
            ("multipleOf", "1e-300", 1e300, True),
            ("multipleOf", "5e-324", 1.5, True),
            ("multipleOf", "1e308", 1e308, True),
            ("multipleOf", "1e-400", 1, False),
            ("multipleOf", "1e400", 1, False),
            ("multipleOf", "0." + "0" * 1_000_000 + "1", 1, False),
            ("multipleOf", "9" * 4_000, 1, False),
            ("minimum", "9" * 1_000_000, 1, False),
            ("maximum", "1e1000000", 1, True),
            ("maxLength", "1e308", "a", True),
            ("minItems", "9" * 4_000, [], False),
            ("maxItems", "1e15", [], True),
            ("minContains", "1e308", [], True),
        )
    },
}
