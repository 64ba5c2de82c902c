"""Table of the keywords of JSON Schema 2020-12: the shape of each one's value, and the type that it validates.

A shape is checked without descending into subschemas: it lists them, and each is checked as a schema.

Every keyword of the standard is a row.  A compiled schema checks in this order: cheap checks first, and last those that
need the results of all others.  `emitters` has the code of each row; `dialects` the differences of other drafts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import nearest, quoted
from mcpc.schema.code import literal
from mcpc.schema.ecma.translation import translate
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.reading import Json, Node

NAME = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
TYPE_NAMES = ("null", "boolean", "object", "array", "number", "string", "integer")
OTHER_TYPE_NAMES = {
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "str": "string",
    "text": "string",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "map": "object",
    "none": "null",
    "nil": "null",
    "undefined": "null",
}
HINTS = {
    ("required", "boolean"): "list the names of required properties in `required` of the object around them",
    ("enum", "string"): "one value is still an array of one value, or `const`",
    ("examples", "string"): "one example is still an array of one example",
}
WORDS = {"None": "null", "True": "true", "False": "false"}
MAX_SHOWN_LENGTH = 40
MAX_PATTERNS = 2_000
"""Maximum number of patterns in one place: each would be searched for every property of a value."""
MAX_NAMES = 20_000
"""Maximum number of names in one place: each is code of the validator."""


@dataclass(frozen=True, slots=True)
class KeywordShape:
    """`problems` yields the problems of a keyword's value; `children` are its subschemas."""

    problems: Callable[[str, Node], Iterator[Diagnostic]]
    children: Callable[[Node], tuple[Node, ...]] = lambda _: ()


def describe_value(node: Node) -> str:
    """Return the description of a value for messages."""
    if node.kind in ("array", "object"):
        return f"an {node.kind}"
    text = str(node.value) if node.kind == "string" else repr(node.value)
    return f"the string `{_shortened(text)}`" if node.kind == "string" else f"`{_shortened(WORDS.get(text, text))}`"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_LENGTH else f"{text[:MAX_SHOWN_LENGTH]}…"


def invalid_value(keyword: str, node: Node, expected: str, hint: str = "") -> Diagnostic:
    """Return the problem of an invalid value of `keyword` at `node`."""
    hint = hint or HINTS.get((keyword, node.kind), "")
    return diagnose(
        "MCP110", node.span, f"`{keyword}` must be {expected}, found {describe_value(node)}", expected, hint
    )


def _of_kind(kind: str, words: str) -> Callable[[str, Node], Iterator[Diagnostic]]:
    def problems(keyword: str, node: Node) -> Iterator[Diagnostic]:
        if node.kind != kind:
            yield invalid_value(keyword, node, words)

    return problems


def _positive(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) not in (int, float) or not node.value > 0:  # type: ignore[operator]
        yield invalid_value(keyword, node, "a number above 0")


def _count(keyword: str, node: Node) -> Iterator[Diagnostic]:
    value = node.value
    # JSON Schema takes `2.0` for an integer.
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0:
        yield invalid_value(keyword, node, "an integer that is not negative")


def _constant(keyword: str, node: Node) -> Iterator[Diagnostic]:
    try:
        literal(node.value)
    except ValueError as error:
        yield diagnose("MCP008", node.span, f"the value of `{keyword}` cannot be compiled: {error}")


def _constants(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "array":
        yield invalid_value(keyword, node, "an array of values")
    yield from _constant(keyword, node)


def _names(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "array":
        yield invalid_value(keyword, node, "an array of property names")
    if len(node.items) > MAX_NAMES:
        yield too_many_names(keyword, node, len(node.items))
        return
    seen: set[str] = set()
    for item in node.items:
        if type(item.value) is not str:
            yield invalid_value(keyword, item, "an array of property names, which are strings")
        elif item.value in seen:
            yield diagnose("MCP110", item.span, f"`{_shortened(item.value)}` stands twice in `{keyword}`")
        else:
            seen.add(item.value)


def too_many_names(keyword: str, node: Node, count: int) -> Diagnostic:
    """Return the problem of a keyword at `node` with `count` names."""
    message = f"`{keyword}` has {count:,} names, more than {MAX_NAMES:,}"
    return diagnose("MCP008", node.span, message, hint="take an array of names, or an object of any properties")


def _names_by_name(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield invalid_value(keyword, node, "an object of arrays of property names")
    count = sum(1 + len(member.node.items) for member in node.members)
    if count > MAX_NAMES:
        yield too_many_names(keyword, node, count)
        return
    for member in node.members:
        yield from _names(keyword, member.node)


def _types(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind == "array" and not node.items:
        yield diagnose("MCP110", node.span, f"`{keyword}` is an array without a type, which nothing could satisfy")
    seen: set[str] = set()
    for item in node.items if node.kind == "array" else (node,):
        if item.value not in TYPE_NAMES:
            yield invalid_value(keyword, item, f"one of {quoted(TYPE_NAMES)}", _type_meant(item))
        elif str(item.value) in seen:
            yield diagnose("MCP110", item.span, f"`{item.value}` stands twice in `{keyword}`")
        seen.add(str(item.value))


def _type_meant(node: Node) -> str:
    if node.kind not in ("string", "null"):
        return ""
    written = str(node.value).lower()
    near = OTHER_TYPE_NAMES.get(written) or nearest(written, TYPE_NAMES)
    return f"did you mean `{near}`?" if near else ""


def _pattern(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) is str:
        yield from _pattern_problems(node.value, node.span)
    else:
        yield invalid_value(keyword, node, "a regular expression in a string")


def _pattern_problems(pattern: str, span: Span) -> Iterator[Diagnostic]:
    try:
        translate(pattern)
    except PatternError as error:
        place = f" (character {error.position + 1})" if error.position else ""
        message = f"the pattern `{_shortened(pattern)}` cannot be compiled: {error.reason}{place}"
        yield diagnose("MCP114", span, message, "a regular expression of ECMA-262")


def _schemas(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "array" or not node.items:
        hint = "an empty array is not allowed" if node.kind == "array" else ""
        yield invalid_value(keyword, node, "an array of at least one schema", hint)


def _schemas_by_pattern(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield invalid_value(keyword, node, "an object of schemas by pattern")
    if len(node.members) > MAX_PATTERNS:
        yield diagnose("MCP008", node.span, f"`{keyword}` has more than {MAX_PATTERNS} patterns")
        return
    for member in node.members:
        yield from _pattern_problems(member.key, member.key_span)


def _names_or_schemas(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield invalid_value(keyword, node, "an object of schemas or arrays of property names")
    count = sum(1 + len(member.node.items) for member in node.members)
    if count > MAX_NAMES:
        yield too_many_names(keyword, node, count)
        return
    for member in node.members:
        if member.node.kind == "array":
            yield from _names(keyword, member.node)


def _schema_or_schemas(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind == "array":
        yield from _schemas(keyword, node)


def _identifier(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) is not str:
        yield invalid_value(keyword, node, "a URI in a string")
    # An empty fragment is allowed.
    elif node.value.removesuffix("#").count("#"):
        yield invalid_value(keyword, node, "a URI without a fragment", "a name for a place is `$anchor`")


def _anchor(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) is not str or not NAME.fullmatch(node.value):
        yield invalid_value(
            keyword, node, "a name of letters, digits, `_`, `-` and `.` that begins with a letter or `_`"
        )


def _vocabularies(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield invalid_value(keyword, node, "an object of booleans by the URIs of vocabularies")
    for member in node.members:
        if member.node.kind != "boolean":
            yield invalid_value(keyword, member.node, "`true` for a vocabulary that must be known, or `false`")


def _values(node: Node) -> tuple[Node, ...]:
    return tuple(member.node for member in node.members)


ANYTHING = KeywordShape(lambda *_: iter(()))
CONSTANT = KeywordShape(_constant)
CONSTANTS = KeywordShape(_constants)
STRING = KeywordShape(_of_kind("string", "a string"))
BOOLEAN = KeywordShape(_of_kind("boolean", "`true` or `false`"))
NUMBER = KeywordShape(_of_kind("number", "a number"))
LIST = KeywordShape(_of_kind("array", "an array"))
POSITIVE = KeywordShape(_positive)
COUNT = KeywordShape(_count)
NAMES = KeywordShape(_names)
NAMES_BY_NAME = KeywordShape(_names_by_name)
TYPES = KeywordShape(_types)
PATTERN = KeywordShape(_pattern)
REFERENCE = STRING
DIALECT = KeywordShape(_of_kind("string", "the URI of a dialect in a string"))
IDENTIFIER = KeywordShape(_identifier)
ANCHOR = KeywordShape(_anchor)
VOCABULARIES = KeywordShape(_vocabularies)
SCHEMA = KeywordShape(lambda *_: iter(()), lambda node: (node,))
SCHEMA_OR_SCHEMAS = KeywordShape(_schema_or_schemas, lambda node: node.items if node.kind == "array" else (node,))
SCHEMAS_OR_NAMES = KeywordShape(
    _names_or_schemas, lambda node: tuple(value for value in _values(node) if value.kind != "array")
)
SCHEMAS = KeywordShape(_schemas, lambda node: node.items)
SCHEMAS_BY_NAME = KeywordShape(_of_kind("object", "an object of schemas by name"), _values)
SCHEMAS_BY_PATTERN = KeywordShape(_schemas_by_pattern, _values)


@dataclass(frozen=True, slots=True)
class Keyword:
    """One row.  `judges`: the JSON type it applies to, `any`, or empty for a keyword that validates nothing itself.

    `earlier`: a kind of value that an earlier draft allowed, and its replacement.
    """

    shape: KeywordShape
    judges: str = ""
    earlier: tuple[str, str] = ("", "")


KEYWORDS: dict[str, Keyword] = {
    "type": Keyword(TYPES),
    "const": Keyword(CONSTANT, "any"),
    "enum": Keyword(CONSTANTS, "any"),
    "minimum": Keyword(NUMBER, "number"),
    "maximum": Keyword(NUMBER, "number"),
    "exclusiveMinimum": Keyword(NUMBER, "number", earlier=("boolean", "give the bound itself: `exclusiveMinimum: 0`")),
    "exclusiveMaximum": Keyword(NUMBER, "number", earlier=("boolean", "give the bound itself: `exclusiveMaximum: 9`")),
    "multipleOf": Keyword(POSITIVE, "number"),
    "minLength": Keyword(COUNT, "string"),
    "maxLength": Keyword(COUNT, "string"),
    "pattern": Keyword(PATTERN, "string"),
    "format": Keyword(STRING, "string"),
    "required": Keyword(NAMES, "object"),
    "minProperties": Keyword(COUNT, "object"),
    "maxProperties": Keyword(COUNT, "object"),
    "dependentRequired": Keyword(NAMES_BY_NAME, "object"),
    "properties": Keyword(SCHEMAS_BY_NAME, "object"),
    "patternProperties": Keyword(SCHEMAS_BY_PATTERN, "object"),
    "additionalProperties": Keyword(SCHEMA, "object"),
    "propertyNames": Keyword(SCHEMA, "object"),
    "dependentSchemas": Keyword(SCHEMAS_BY_NAME, "object"),
    "dependencies": Keyword(SCHEMAS_OR_NAMES),
    "minItems": Keyword(COUNT, "array"),
    "maxItems": Keyword(COUNT, "array"),
    "prefixItems": Keyword(SCHEMAS, "array"),
    "items": Keyword(SCHEMA, "array", earlier=("array", "schemas by position are `prefixItems` since 2020-12")),
    "contains": Keyword(SCHEMA, "array"),
    "minContains": Keyword(COUNT),
    "maxContains": Keyword(COUNT),
    "uniqueItems": Keyword(BOOLEAN, "array"),
    "$ref": Keyword(REFERENCE, "any"),
    "$dynamicRef": Keyword(REFERENCE, "any"),
    "allOf": Keyword(SCHEMAS, "any"),
    "anyOf": Keyword(SCHEMAS, "any"),
    "oneOf": Keyword(SCHEMAS, "any"),
    "not": Keyword(SCHEMA, "any"),
    "if": Keyword(SCHEMA, "any"),
    "then": Keyword(SCHEMA),
    "else": Keyword(SCHEMA),
    "unevaluatedProperties": Keyword(SCHEMA, "object"),
    "unevaluatedItems": Keyword(SCHEMA, "array"),
    "$schema": Keyword(DIALECT),
    "$defs": Keyword(SCHEMAS_BY_NAME),
    "definitions": Keyword(SCHEMAS_BY_NAME),
    "title": Keyword(STRING),
    "description": Keyword(STRING),
    "default": Keyword(ANYTHING),
    "examples": Keyword(LIST),
    "deprecated": Keyword(BOOLEAN),
    "readOnly": Keyword(BOOLEAN),
    "writeOnly": Keyword(BOOLEAN),
    "$comment": Keyword(STRING),
    "contentEncoding": Keyword(STRING),
    "contentMediaType": Keyword(STRING),
    "contentSchema": Keyword(SCHEMA),
    "$id": Keyword(IDENTIFIER),
    "$anchor": Keyword(ANCHOR),
    "$dynamicAnchor": Keyword(ANCHOR),
    "$vocabulary": Keyword(VOCABULARIES),
}

ORDER = {name: place for place, name in enumerate(KEYWORDS)}
TEXTS = ("title", "description")
ONE_OR_MORE = frozenset(name for name, row in KEYWORDS.items() if row.shape in (SCHEMA, SCHEMAS))
BY_NAME = frozenset(
    name for name, row in KEYWORDS.items() if row.shape in (SCHEMAS_BY_NAME, SCHEMAS_BY_PATTERN, SCHEMAS_OR_NAMES)
)


def without_texts(schema: Json) -> Json:
    """Return a schema in which no schema has its texts, which judge nothing; all else is kept, in its order."""
    # The list is the place in which the root's copy is put; the given schema stays as it is.
    whole = [schema]
    waiting: list[tuple[Any, Any]] = [(whole, 0)]
    while waiting:
        around, key = waiting.pop()
        value = around[key]
        if isinstance(value, list):
            around[key] = list(value)
            waiting += ((around[key], place) for place in range(len(value)))
        elif isinstance(value, dict):
            # A text that is no string is a problem to be reported, so it stays.
            smaller = around[key] = {
                name: part for name, part in value.items() if not (name in TEXTS and isinstance(part, str))
            }
            for name, part in smaller.items():
                if name in ONE_OR_MORE:
                    waiting.append((smaller, name))
                elif name in BY_NAME and isinstance(part, dict):
                    smaller[name] = dict(part)
                    waiting += ((smaller[name], each) for each in part)
    return whole[0]
