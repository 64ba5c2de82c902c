"""Values that a JSON Schema accepts, as strategies of Hypothesis: at the bounds of the schema more often than between.

A strategy is a proposal: what a schema says that is not followed here (`not`, `dependentSchemas` …) is left to the
compiled validator, which every value has to pass.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from mcpc.workbench.testing.expectations import at_pointer
from mcpc.workbench.testing.model import Absent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Json = Any
    Schema = Any
    Strategy = st.SearchStrategy[Json]

MAX_DEPTH = 5
MORE_ITEMS = 4
MAX_TEXT = 2000
TEXTS = (
    *(
        "",
        " ",
        "a",
        "A",
        "0",
        "-1",
        "é",
        "ß",
        "e\u0301",
        "İ",
        "\U0001f600",
        "日本",
        "\u202e",
        "\t",
        "a b",
        "a\nb",
        "a,b",
    ),
    *("'", '"', "\\", "/", "..", "%s", "{}", "$x", "`", "-", "--help", "null", "true", "a'b\"c", "\x00", "x" * 100),
)
"""Texts that handlers treat wrongly more often than others."""
INTEGERS = (0, 1, -1, 2, 10, 100, 2**31 - 1, 2**31, -(2**31), 2**53, 2**53 + 1, 2**63, -(2**63), 10**20)
NUMBERS = (0.0, -0.0, 0.1, 1.5, -1.5, 1e-9, 1e9, 2.0**53, 1e100, 5e-324)
DATES = ("2024-02-29", "2000-02-29", "1970-01-01", "2023-12-31", "2024-01-31", "0001-01-01", "9999-12-31", "2024-03-31")
TIMES = ("00:00:00", "23:59:59", "12:30:00.5")
DATE_TIMES = (*(f"{date}T{time}Z" for date in DATES for time in TIMES[:2]), "2024-06-30T12:00:00+14:00")
WORDS: Mapping[str, tuple[str, ...]] = {
    "date": DATES,
    "date-time": DATE_TIMES,
    "time": tuple(f"{time}Z" for time in TIMES),
    "duration": ("P1D", "PT0S", "P1Y2M3DT4H5M6S"),
    "email": ("a@example.com", "a.b+c@example.org"),
    "hostname": ("example.com", "a", "xn--bcher-kva.example"),
    "ipv4": ("127.0.0.1", "0.0.0.0", "255.255.255.255"),
    "ipv6": ("::1", "2001:db8::1"),
    "uri": ("https://example.com/", "https://example.com/a?b=c#d", "urn:a:b", "file:///a"),
    "uri-reference": ("a", "/a", "https://example.com/"),
    "uuid": ("00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
    "regex": ("a*", "^$"),
    "json-pointer": ("", "/a/0"),
}
"""Texts of each format."""
BY_KEYWORD = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""The type that a schema without `type` is about."""
LOW = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
HIGH = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


class Proposals:
    """Strategies for the parts of one schema.  `root`: the document of its references."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def of(self, schema: Schema, depth: int = 0) -> Strategy:
        """Return proposals for a schema: O(its size), references up to a depth."""
        if not isinstance(schema, dict):
            return st.nothing() if schema is False else anything()
        if "$ref" in schema:
            return self._referred(schema, depth)
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"]) if schema["enum"] else st.nothing()
        alternatives = alternatives_of(schema)
        if alternatives:
            return st.one_of(*(self.of(each, depth) for each in alternatives))
        return st.one_of(*(KINDS[kind](self, schema, depth) for kind in types_of(schema)))

    def _referred(self, schema: dict[str, Json], depth: int) -> Strategy:
        target = at_pointer(self._root, str(schema["$ref"]).removeprefix("#"))
        if depth > MAX_DEPTH or isinstance(target, Absent):
            return st.nothing() if depth > MAX_DEPTH else anything()
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        merged = combined(rest, target) if isinstance(target, dict) else target
        # Deferred, so that a recursive schema is followed only as far as values are drawn.
        return st.deferred(lambda: self.of(merged, depth + 1))


def anything() -> Strategy:
    """Return small values of every type."""
    scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(INTEGERS), st.sampled_from(NUMBERS), texts())
    return st.one_of(scalars, st.lists(scalars, max_size=2), st.dictionaries(st.sampled_from(("a", "b")), scalars))


def texts() -> Strategy:
    """Return texts without halves of characters, which JSON cannot have."""
    return st.one_of(st.sampled_from(TEXTS), st.text(st.characters(codec="utf-8"), max_size=20))


def types_of(schema: Mapping[str, Json]) -> list[str]:
    """Return the types that a schema allows, by `type` or by what its keywords are about."""
    given = schema.get("type")
    if given is not None:
        return [given] if isinstance(given, str) else list(given)
    about = [kind for kind, keywords in BY_KEYWORD.items() if any(key in schema for key in keywords)]
    return about or ["null", "boolean", "integer", "number", "string", "array", "object"]


def alternatives_of(schema: dict[str, Json]) -> list[Json]:
    """Return schemas of which each value fits one: a keyword of alternatives, merged with what is beside it."""
    # `allOf` first: the alternatives of its parts are in what it is merged to.
    for key in ("allOf", "oneOf", "anyOf", "if"):
        if key not in schema:
            continue
        rest = {name: value for name, value in schema.items() if name != key}
        if key == "if":
            otherwise = {name: value for name, value in rest.items() if name not in ("then", "else")}
            then = combined(combined(otherwise, schema["if"]), schema.get("then", {}))
            return [then, combined(otherwise, schema.get("else", {}))]
        if key == "allOf":
            for part in schema[key]:
                rest = combined(rest, part)
            return [rest]
        return [combined(rest, part) for part in schema[key]]
    return []


def combined(one: Json, other: Json) -> Json:
    """Return a schema that demands what both demand, as far as proposals need it."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other if isinstance(one, dict) else one
    joined = {**one, **other}
    for key in one.keys() & other.keys():
        joined[key] = JOINS.get(key, lambda _one, second: second)(one[key], other[key])
    for key in ("allOf", "oneOf", "anyOf"):
        if key in one and key in other:
            # Two lists of alternatives are not one: the first is demanded besides.
            joined["allOf"] = [*joined.get("allOf", ()), {key: one[key]}]
    return joined


def _joined(one: Mapping[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    return {key: combined(one.get(key, {}), other.get(key, {})) for key in {**one, **other}}


def _types(one: Json, other: Json) -> list[Json]:
    first, second = ([each] if isinstance(each, str) else each for each in (one, other))
    return [each for each in first if each in second or (each == "integer" and "number" in second)]


JOINS: dict[str, Callable[[Any, Any], Json]] = {
    "properties": _joined,
    "$defs": _joined,
    "required": lambda one, other: [*dict.fromkeys([*one, *other])],
    "enum": lambda one, other: [each for each in one if each in other],
    "type": _types,
    **dict.fromkeys(LOW, max),
    **dict.fromkeys(HIGH, min),
}
"""How two values of a keyword become one that demands both."""


def bounds(schema: Mapping[str, Json]) -> tuple[float | None, float | None]:
    """Return the least and the greatest number; an exclusive bound is the bound itself."""
    low = [schema[key] for key in LOW[:2] if isinstance(schema.get(key), int | float)]
    high = [schema[key] for key in HIGH[:2] if isinstance(schema.get(key), int | float)]
    return max(low, default=None), min(high, default=None)


def _integers(_self: Proposals, schema: dict[str, Json], _depth: int) -> Strategy:
    low, high = bounds(schema)
    step = schema.get("multipleOf", 1)
    whole = step if isinstance(step, int) and step > 0 else 1
    # In multiples of `multipleOf`, rounded up, while `//` rounds down.
    least = None if low is None else -(-math.ceil(low) // whole)
    most = None if high is None else math.floor(high) // whole
    near = [edge + by for edge in (least, most) if edge is not None for by in (-1, 0, 1)]
    picked = [each * whole for each in (*near, *INTEGERS) if _between(each, least, most)]
    strategies = [st.sampled_from(picked)] if picked else []
    if least is None or most is None or least <= most:
        strategies.append(st.integers(least, most).map(lambda each: each * whole))
    return st.one_of(*strategies)


def _between(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _numbers(self: Proposals, schema: dict[str, Json], depth: int) -> Strategy:
    low, high = bounds(schema)
    if "multipleOf" in schema:
        step = schema["multipleOf"]
        return st.one_of(_integers(self, schema, depth), st.integers(-50, 50).map(lambda each: each * step))
    near = [edge + by for edge in (low, high) if edge is not None for by in (-0.5, 0, 0.5)]
    picked = [each for each in (*near, *NUMBERS) if _between(each, low, high)]
    strategies = [st.sampled_from(picked)] if picked else []
    if low is None or high is None or low <= high:
        strategies.append(st.floats(low, high, allow_nan=False, allow_infinity=False))
    return st.one_of(*strategies, _integers(self, schema, depth))


def _strings(_self: Proposals, schema: dict[str, Json], _depth: int) -> Strategy:
    least, most = int(schema.get("minLength", 0)), min(int(schema.get("maxLength", MAX_TEXT)), MAX_TEXT)
    if least > most:
        return st.nothing()
    if "pattern" in schema:
        return _matching(schema["pattern"])
    words = WORDS.get(str(schema.get("format")))
    if words:
        dates = st.dates(datetime.date(1, 1, 1)).map(datetime.date.isoformat)
        return st.one_of(st.sampled_from(words), dates) if schema["format"] == "date" else st.sampled_from(words)
    picked = [each for each in TEXTS if least <= len(each) <= most]
    sizes = [least, *([most] if "maxLength" in schema else [])]
    picked += [letter * size for letter in ("a", "é") for size in sizes]
    return st.one_of(
        st.sampled_from(picked), st.text(st.characters(codec="utf-8"), min_size=least, max_size=min(most, least + 20))
    )


def _matching(pattern: str) -> Strategy:
    """Return texts that match a pattern; it is one of ECMA 262, which Python's `re` mostly reads alike."""
    try:
        # `$` of Python also matches in front of a last line end, that of ECMA-262 does not.
        whole = st.from_regex(re.compile(pattern.replace("$", r"\Z"), re.ASCII))
    except (re.error, ValueError):
        return texts()
    return whole.filter(lambda text: not re.search("[\ud800-\udfff]", text))


def _arrays(self: Proposals, schema: dict[str, Json], depth: int) -> Strategy:
    least = int(schema.get("minItems", 0))
    most = min(int(schema.get("maxItems", least + MORE_ITEMS)), least + MORE_ITEMS)
    first = [self.of(each, depth + 1) for each in schema.get("prefixItems", ())]
    rest = self.of(schema.get("items", True), depth + 1)
    if depth > MAX_DEPTH or least > most or rest.is_empty:
        most = least if least > len(first) else len(first)
        rest = st.nothing() if rest.is_empty else rest
    if first:
        head = st.tuples(*first).map(list)
        return head if rest.is_empty else st.builds(lambda a, b: a + b, head, st.lists(rest, max_size=MORE_ITEMS))
    if rest.is_empty:
        return st.just([])
    if schema.get("uniqueItems"):
        return st.lists(rest, min_size=least, max_size=most, unique_by=lambda each: json.dumps(each, sort_keys=True))
    if "contains" in schema and most:
        part = self.of(schema["contains"], depth + 1)
        return st.builds(lambda one, others: [*others, one], part, st.lists(rest, max_size=most - 1))
    # Equal items, which are rare among those that are drawn one by one.
    same = st.builds(lambda each, size: [each] * size, rest, st.integers(min(max(least, 2), most), most))
    return st.one_of(st.lists(rest, min_size=least, max_size=most), same)


def _objects(self: Proposals, schema: dict[str, Json], depth: int) -> Strategy:
    properties = schema.get("properties", {})
    required = [*dict.fromkeys(schema.get("required", ()))]
    more = schema.get("additionalProperties", True)
    fixed = {name: self.of(properties.get(name, more), depth + 1) for name in required}
    optional = {} if depth > MAX_DEPTH else {
        name: strategy
        for name, part in properties.items()
        if name not in required and not (strategy := self.of(part, depth + 1)).is_empty
    }  # fmt: skip
    known = st.fixed_dictionaries(fixed, optional=optional)
    extra = _extra_members(self, schema, depth) if depth <= MAX_DEPTH else None
    return known if extra is None else st.builds(lambda one, other: {**other, **one}, known, extra)


def _extra_members(self: Proposals, schema: dict[str, Json], depth: int) -> Strategy | None:
    """Return members that a schema does not name, if it is about such: patterns, or a schema for all others."""
    least = int(schema.get("minProperties", 0))
    patterns = schema.get("patternProperties") or {}
    if patterns:
        pattern, part = next(iter(patterns.items()))
        return st.dictionaries(_matching(pattern), self.of(part, depth + 1), max_size=2)
    more = schema.get("additionalProperties")
    if isinstance(more, dict) or (least and more is not False) or ("properties" not in schema and more is True):
        names = st.one_of(st.sampled_from(("a", "b", "", "é")), st.text(st.characters(codec="utf-8"), max_size=8))
        values = self.of(True if more is None else more, depth + 1)
        return st.dictionaries(names, values, min_size=least, max_size=least + 2)
    return None


KINDS: dict[str, Callable[[Proposals, dict[str, Json], int], Strategy]] = {
    "null": lambda _self, _schema, _depth: st.none(),
    "boolean": lambda _self, _schema, _depth: st.booleans(),
    "integer": _integers,
    "number": _numbers,
    "string": _strings,
    "array": _arrays,
    "object": _objects,
}
"""Proposals for each type."""


def near_misses(schema: Schema) -> list[Json]:
    """Return values that a schema just refuses, as far as its own keywords tell."""
    if not isinstance(schema, dict):
        return []
    values: list[Json] = []
    low, high = bounds(schema)
    values += [edge - 1 for edge in (low,) if edge is not None] + [edge + 1 for edge in (high,) if edge is not None]
    if schema.get("minLength"):
        values.append("a" * (int(schema["minLength"]) - 1))
    if int(schema.get("maxLength", MAX_TEXT)) < MAX_TEXT:
        values.append("a" * (int(schema["maxLength"]) + 1))
    if "enum" in schema:
        values += ["no member", *(each.upper() + " " for each in schema["enum"] if isinstance(each, str))]
    return values
