"""The shapes the values of keywords may have, as the metaschema of 2020-12 says, and what to say of any other.

A shape is checked without descending into subschemas: it names where they are, and each is checked as a schema.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema.code import literal
from mcpc.schema.ecma import PatternError, translate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.sources import Node

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
SHOWN = 40
MANY = 2_000
"""More patterns in one place would be searched, one after the other, for every property of a value."""


def _no_children(_node: Node) -> tuple[Node, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Shape:
    """`problems` yields what is wrong with the value of a keyword; `children` are the subschemas in it."""

    problems: Callable[[str, Node], Iterator[Diagnostic]]
    children: Callable[[Node], tuple[Node, ...]] = _no_children


def found(node: Node) -> str:
    """Say what a value is, in words that follow `found`."""
    if node.kind in ("array", "object"):
        return f"an {node.kind}"
    text = str(node.value) if node.kind == "string" else repr(node.value)
    return f"the string `{_shortened(text)}`" if node.kind == "string" else f"`{_shortened(WORDS.get(text, text))}`"


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def wrong(keyword: str, node: Node, expected: str, hint: str = "") -> Diagnostic:
    """Return the problem that the value of `keyword` at `node` is not what it must be."""
    hint = hint or HINTS.get((keyword, node.kind), "")
    return diagnose("MCP110", node.span, f"`{keyword}` must be {expected}, found {found(node)}", expected, hint)


def _of_kind(kind: str, words: str) -> Callable[[str, Node], Iterator[Diagnostic]]:
    def problems(keyword: str, node: Node) -> Iterator[Diagnostic]:
        if node.kind != kind:
            yield wrong(keyword, node, words)

    return problems


def _anything(_keyword: str, _node: Node) -> Iterator[Diagnostic]:
    yield from ()


def _positive(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) not in (int, float) or not node.value > 0:  # type: ignore[operator]
        yield wrong(keyword, node, "a number above 0")


def _count(keyword: str, node: Node) -> Iterator[Diagnostic]:
    value = node.value
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0:
        yield wrong(keyword, node, "an integer that is not negative")


def _constant(keyword: str, node: Node) -> Iterator[Diagnostic]:
    try:
        literal(node.value)
    except ValueError as error:
        yield diagnose("MCP008", node.span, f"the value of `{keyword}` cannot be compiled: {error}")


def _constants(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "array":
        yield wrong(keyword, node, "an array of values")
    yield from _constant(keyword, node)


def _names(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "array":
        yield wrong(keyword, node, "an array of property names")
    seen: set[str] = set()
    for item in node.items:
        if type(item.value) is not str:
            yield wrong(keyword, item, "an array of property names, which are strings")
        elif item.value in seen:
            yield diagnose("MCP110", item.span, f"`{_shortened(item.value)}` stands twice in `{keyword}`")
        else:
            seen.add(item.value)


def _names_by_name(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield wrong(keyword, node, "an object of arrays of property names")
    for member in node.members:
        yield from _names(keyword, member.node)


def _types(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind == "array" and not node.items:
        yield diagnose("MCP110", node.span, f"`{keyword}` is an array without a type, which nothing could satisfy")
    seen: set[str] = set()
    for item in node.items if node.kind == "array" else (node,):
        if item.value not in TYPE_NAMES:
            yield wrong(keyword, item, f"one of {', '.join(f'`{name}`' for name in TYPE_NAMES)}", _type_meant(item))
        elif str(item.value) in seen:
            yield diagnose("MCP110", item.span, f"`{item.value}` stands twice in `{keyword}`")
        seen.add(str(item.value))


def _type_meant(node: Node) -> str:
    if node.kind not in ("string", "null"):
        return ""
    written = str(node.value).lower()
    near = OTHER_TYPE_NAMES.get(written) or next(iter(difflib.get_close_matches(written, TYPE_NAMES, 1)), "")
    return f"did you mean `{near}`?" if near else ""


def _pattern(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) is str:
        yield from _pattern_problems(node.value, node.span)
    else:
        yield wrong(keyword, node, "a regular expression in a string")


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
        yield wrong(keyword, node, "an array of at least one schema", hint)


def _schemas_by_name(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield wrong(keyword, node, "an object of schemas by name")


def _schemas_by_pattern(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield wrong(keyword, node, "an object of schemas by pattern")
    if len(node.members) > MANY:
        yield diagnose("MCP008", node.span, f"`{keyword}` has more than {MANY} patterns")
        return
    for member in node.members:
        yield from _pattern_problems(member.key, member.key_span)


def _names_or_schemas(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield wrong(keyword, node, "an object of schemas or arrays of property names")
    for member in node.members:
        if member.node.kind == "array":
            yield from _names(keyword, member.node)


def _schema_or_schemas(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind == "array":
        yield from _schemas(keyword, node)


def _identifier(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) is not str:
        yield wrong(keyword, node, "a URI in a string")
    elif node.value.removesuffix("#").count("#"):
        yield wrong(keyword, node, "a URI without a fragment", "a name for a place is `$anchor`")


def _anchor(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if type(node.value) is not str or not NAME.fullmatch(node.value):
        yield wrong(keyword, node, "a name of letters, digits, `_`, `-` and `.` that begins with a letter or `_`")


def _vocabularies(keyword: str, node: Node) -> Iterator[Diagnostic]:
    if node.kind != "object":
        yield wrong(keyword, node, "an object of booleans by the URIs of vocabularies")
    for member in node.members:
        if member.node.kind != "boolean":
            yield wrong(keyword, member.node, "`true` for a vocabulary that must be known, or `false`")


def _itself(node: Node) -> tuple[Node, ...]:
    return (node,)


def _items(node: Node) -> tuple[Node, ...]:
    return node.items


def _values(node: Node) -> tuple[Node, ...]:
    return tuple(member.node for member in node.members)


def _items_or_itself(node: Node) -> tuple[Node, ...]:
    return node.items if node.kind == "array" else (node,)


def _values_but_names(node: Node) -> tuple[Node, ...]:
    return tuple(member.node for member in node.members if member.node.kind != "array")


ANYTHING = Shape(_anything)
CONSTANT = Shape(_constant)
CONSTANTS = Shape(_constants)
STRING = Shape(_of_kind("string", "a string"))
BOOLEAN = Shape(_of_kind("boolean", "`true` or `false`"))
NUMBER = Shape(_of_kind("number", "a number"))
LIST = Shape(_of_kind("array", "an array"))
POSITIVE = Shape(_positive)
COUNT = Shape(_count)
NAMES = Shape(_names)
NAMES_BY_NAME = Shape(_names_by_name)
TYPES = Shape(_types)
PATTERN = Shape(_pattern)
REFERENCE = STRING
DIALECT = Shape(_of_kind("string", "the URI of a dialect in a string"))
IDENTIFIER = Shape(_identifier)
ANCHOR = Shape(_anchor)
VOCABULARIES = Shape(_vocabularies)
SCHEMA = Shape(_anything, _itself)
SCHEMA_OR_SCHEMAS = Shape(_schema_or_schemas, _items_or_itself)
SCHEMAS_OR_NAMES = Shape(_names_or_schemas, _values_but_names)
SCHEMAS = Shape(_schemas, _items)
SCHEMAS_BY_NAME = Shape(_schemas_by_name, _values)
SCHEMAS_BY_PATTERN = Shape(_schemas_by_pattern, _values)
