"""Two other implementations of JSON Schema, and where they are known to differ from the standard.

What they judge otherwise than mcpc is explained in one of two ways: the schema is rewritten so that it means the same
but leaves out what they get wrong, and they then judge as mcpc does; or, for the slower of them alone, the schema and
the value hold what it gets wrong, and the faster judges as mcpc does.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import jsonschema
import jsonschema_rs

from support.random_schemas import DRAFTS

Json = Any

Judge = Callable[[Json], bool]

RUST = {
    "draft2020-12": jsonschema_rs.Draft202012Validator,
    "draft2019-09": jsonschema_rs.Draft201909Validator,
    "draft7": jsonschema_rs.Draft7Validator,
}
PYTHON = {
    "draft2020-12": jsonschema.Draft202012Validator,
    "draft2019-09": jsonschema.Draft201909Validator,
    "draft7": jsonschema.Draft7Validator,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that an implementation judges otherwise than mcpc.  `answer`: mcpc's."""

    oracle: str
    draft: str
    schema: Json
    instance: Json
    answer: bool

    def __str__(self) -> str:
        words = {True: "accepts", False: "refuses"}
        schema, instance = json.dumps(self.schema), json.dumps(self.instance)
        return (
            f"{self.draft}: {schema}\n  of {instance}: mcpc {words[self.answer]},"
            f" {self.oracle} {words[not self.answer]}; {explanation(self) or 'NOT EXPLAINED'}"
        )


def oracles(schema: Json, draft: str) -> dict[str, Judge]:
    """Return the functions of the implementations that take the schema: one refuses patterns that are allowed."""
    found: dict[str, Judge] = {"jsonschema": PYTHON[draft](schema).is_valid}
    try:
        found["jsonschema-rs"] = RUST[draft](schema, validate_formats=False).is_valid
    except ValueError as error:
        if 'is not a "regex"' not in str(error):
            raise
    return found


def answers(judge: Judge, instance: Json) -> bool | str:
    """Return what an implementation says; or, in words, why it says nothing."""
    try:
        return judge(instance)
    except BaseException as error:  # `jsonschema` lets through whatever its own dependencies raise
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return f"{type(error).__name__}: {error}"[:80]


def patterns_in(schema: Json) -> Iterator[str]:
    """Yield every regular expression in a schema."""
    for keyword, value in keywords_in(schema):
        if keyword == "pattern" and isinstance(value, str):
            yield value
        elif keyword == "patternProperties" and isinstance(value, dict):
            yield from value


def keywords_in(schema: Json) -> Iterator[tuple[str, Json]]:
    """Yield every key of every object in a schema, with its value."""
    for item in everything_in(schema):
        if isinstance(item, dict):
            yield from item.items()


def everything_in(value: Json) -> Iterator[Json]:
    yield value
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from everything_in(item)


def texts_in(instance: Json) -> Iterator[str]:
    return (item for item in everything_in(instance) if isinstance(item, str))


def a_last_line_end(difference: Difference) -> bool:
    """ECMA-262 22.2.2.4: without the flag m, `$` matches at the end only; Python's `$` also before a last LF."""
    dollars = any("$" in pattern for pattern in patterns_in(difference.schema))
    return dollars and any(text.endswith("\n") for text in texts_in(difference.instance))


def other_classes(difference: Difference) -> bool:
    """ECMA-262 22.2.2.9: `\\d` and `\\w` are ASCII, `\\s` is WhiteSpace and LineTerminator; Python's are Unicode's."""
    classes = any(re.search(r"\\[dDwWsSb]", pattern) for pattern in patterns_in(difference.schema))
    return classes and any(not text.isascii() for text in texts_in(difference.instance))


def quotients(difference: Difference) -> bool:
    """Validation 6.2.1: dividing results in an integer; `jsonschema` divides binary fractions, which is not exact."""
    divisors = [value for key, value in keywords_in(difference.schema) if key == "multipleOf" and is_number(value)]
    numbers = [value for value in everything_in(difference.instance) if is_number(value)]
    return any(exact(number, divisor) != binary(number, divisor) for divisor in divisors for number in numbers)


def is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def exact(number: float, divisor: float) -> bool:
    """Say whether the decimal `number` is a multiple of the decimal `divisor`."""
    return (Fraction(Decimal(repr(number))) / Fraction(Decimal(repr(divisor)))).denominator == 1


def binary(number: float, divisor: Json) -> bool:
    """Say whether it is, as `jsonschema` finds out."""
    if not isinstance(divisor, float):
        return not number % divisor
    try:
        quotient = number / divisor
        return int(quotient) == quotient
    except OverflowError:
        return (Fraction(number) / Fraction(divisor)).denominator == 1


def names_as_schemas(difference: Difference) -> bool:
    """Core 2019-09 9.3.2: what these apply to is evaluated; `jsonschema` takes their keywords for names of properties."""
    applied = {"additionalProperties", "unevaluatedProperties"}
    objects = [key for key, value in keywords_in(difference.schema) if key in applied and isinstance(value, dict)]
    return difference.draft == "draft2019-09" and bool(objects)


def dot(schema: dict[str, Json]) -> dict[str, Json]:
    """ECMA-262 22.2.2.7: `.` matches no LineTerminator, which are LF, CR, U+2028 and U+2029; theirs leaves out LF only."""
    changed = dict(schema)
    if isinstance(schema.get("pattern"), str):
        changed["pattern"] = without_dot(schema["pattern"])
    if isinstance(schema.get("patternProperties"), dict):
        changed["patternProperties"] = {
            without_dot(pattern): value for pattern, value in schema["patternProperties"].items()
        }
    return changed


def without_dot(pattern: str) -> str:
    return re.sub(r"(?<!\\)\.", r"[^\\n\\r\\u2028\\u2029]", pattern)


def static(schema: dict[str, Json]) -> dict[str, Json]:
    """Core 8.2.3: only `$dynamicRef` looks for the outermost; for `$ref` a `$dynamicAnchor` is a plain `$anchor`."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.endswith("#node"):
        return {**schema, "$ref": reference.removesuffix("node") + "/$defs/inner"}
    return schema


def unseen(schema: dict[str, Json]) -> dict[str, Json]:
    """Core 2019-09 9.3.1.3: `unevaluatedItems` knows nothing of `contains`, as if it stood below `not`."""
    counts = ("contains", "minContains", "maxContains")
    if "contains" not in schema:
        return schema
    apart = {name: schema[name] for name in counts if name in schema}
    rest = {name: value for name, value in schema.items() if name not in counts}
    return {**rest, "allOf": [*schema.get("allOf", ()), {"not": {"not": apart}}]}


def described(schema: dict[str, Json]) -> dict[str, Json]:
    """Validation draft-07 8.2: `contentEncoding` and `contentMediaType` may describe and decide nothing, as with mcpc."""
    return {name: value for name, value in schema.items() if name not in ("contentEncoding", "contentMediaType")}


def any_name(schema: dict[str, Json]) -> dict[str, Json]:
    """Core 10.3.2.2: the empty pattern matches every name; `jsonschema` takes it for no pattern."""
    patterns = schema.get("patternProperties")
    if isinstance(patterns, dict) and "" in patterns:
        return {**schema, "patternProperties": {name or "(?:)": value for name, value in patterns.items()}}
    return schema


REWRITTEN: tuple[tuple[str, Callable[[dict[str, Json]], dict[str, Json]], tuple[str, ...]], ...] = (
    ("`.` and line ends", dot, tuple(DRAFTS)),
    ("`$ref` to a dynamic anchor", static, ("draft2020-12",)),
    ("`contains` and `unevaluatedItems`", unseen, ("draft2019-09",)),
    ("`contentMediaType` and `contentEncoding`", described, ("draft7",)),
    ("the empty pattern", any_name, tuple(DRAFTS)),
)
"""A schema means the same when it is rewritten so; if others then judge as mcpc does, that is what they differ in."""
SUPPOSED: tuple[tuple[str, Callable[[Difference], bool]], ...] = (
    ("`$` before a last line end", a_last_line_end),
    ("character classes of Unicode", other_classes),
    ("division of binary fractions", quotients),
    ("keywords for names", names_as_schemas),
)
"""What `jsonschema` may have done, if jsonschema-rs judges as mcpc does."""


def explanation(difference: Difference) -> str:
    """Return why another implementation judges differently, or nothing."""
    for why, change, drafts in REWRITTEN:
        if difference.draft in drafts:
            schema = rewritten(difference.schema, change)
            if schema != difference.schema and is_settled(difference, opinion(difference, schema)):
                return why
    if difference.oracle != "jsonschema" or not others_agree(difference):
        return ""
    return next((why for why, holds in SUPPOSED if holds(difference)), "")


def is_settled(difference: Difference, judgement: bool | str) -> bool:
    """Say whether the implementation now judges as mcpc does; or now fails, and the other one judges as mcpc does."""
    fails = isinstance(judgement, str) and difference.oracle == "jsonschema" and others_agree(difference)
    return judgement is difference.answer or fails


def rewritten(schema: Json, change: Callable[[dict[str, Json]], dict[str, Json]]) -> Json:
    if isinstance(schema, list):
        return [rewritten(item, change) for item in schema]
    if isinstance(schema, dict):
        return change({name: rewritten(value, change) for name, value in schema.items()})
    return schema


def opinion(difference: Difference, schema: Json) -> bool | str:
    """Return how the implementation judges the value by another schema."""
    try:
        judge = oracles(schema, difference.draft).get(difference.oracle)
    except ValueError as error:
        return str(error)
    return answers(judge, difference.instance) if judge else "does not take the schema"


def others_agree(difference: Difference) -> bool:
    """Say whether jsonschema-rs, if it takes the schema, judges as mcpc does, or is known to be wrong."""
    judge = oracles(difference.schema, difference.draft).get("jsonschema-rs")
    if judge is None or answers(judge, difference.instance) is difference.answer:
        return True
    theirs = Difference("jsonschema-rs", difference.draft, difference.schema, difference.instance, difference.answer)
    return bool(explanation(theirs))
