"""The keywords of schemas in documents: how each is written in JSON Schema 2020-12, or why it is left out."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from mcpc.diagnostics import Span
from mcpc.frontends.openapi.problems import HIDDEN
from mcpc.frontends.openapi.texts import clean_text, has_hidden
from mcpc.reading.json_tree import implied_node
from mcpc.schema.ecma.translation import translate
from mcpc.schema.keywords import OTHER_TYPE_NAMES, TYPE_NAMES
from mcpc.schema.slow_patterns import slow_patterns
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.frontends.openapi.documents import DocumentValue
    from mcpc.frontends.openapi.problems import Problems

Json = Any
DEEPEST = 30
"""How deep one schema may be nested, references aside."""
COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
NUMBERS = ("minimum", "maximum", "multipleOf")
SCHEMAS = (
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
)
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("patternProperties", "dependentSchemas")
ANNOTATING = frozenset(("description", "default", "deprecated"))
BYTES = {"type": "string", "contentEncoding": "base64"}
"""Bytes as an argument: the text of their base64."""
DEFINITIONS = "#/$defs/"


class SchemaReader(Protocol):
    """What a keyword asks of the schemas of its document."""

    problems: Problems
    is_old: bool

    def subschema(self, place: DocumentValue, depth: int) -> Json: ...
    def follow(self, place: DocumentValue) -> DocumentValue: ...
    def name_of(self, target: DocumentValue) -> str: ...
    def recursion(self, place: DocumentValue, keyword: str) -> DocumentValue: ...
    def is_left_out(self, place: DocumentValue) -> bool: ...


def _type(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    written = place.value[keyword]
    if written == "file":
        converted.update(BYTES)
        return
    kinds = []
    for kind in written if isinstance(written, list) else [written]:
        known = kind if kind in TYPE_NAMES else OTHER_TYPE_NAMES.get(kind) if isinstance(kind, str) else None
        if known is None or known != kind:
            as_what = f"read as `{known}`" if known else "left out"
            schemas.problems.repair(place.at(keyword), f"`{kind}` is no type of JSON: {as_what}")
        kinds += [known] if known and known not in kinds else []
    if kinds:
        converted["type"] = kinds[0] if len(kinds) == 1 else kinds


def _text(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    text = clean_text(place.value[keyword])
    if has_hidden(place.value[keyword]):
        schemas.problems.repair(place.at(keyword), HIDDEN)
    if text:
        converted[keyword] = text


def _format(_: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], __: int) -> None:
    """Keep formats of texts: some clients refuse those of numbers, as `int64`."""
    written = place.value[keyword]
    if written in ("binary", "byte", "base64", "base64url") and converted.get("type", "string") == "string":
        converted.update(BYTES)
    elif isinstance(written, str) and not {"integer", "number"} & {*_kinds(converted)}:
        converted[keyword] = written


def _kinds(converted: dict[str, Json]) -> list[str]:
    kinds = converted.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _flag(_: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], __: int) -> None:
    if place.value[keyword] is True:
        converted[keyword] = True


def _encoding(_: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], __: int) -> None:
    if isinstance(place.value[keyword], str):
        converted[keyword] = place.value[keyword]


def _enum(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    written = place.value[keyword]
    if not isinstance(written, list) or not written:
        schemas.problems.repair(place.at(keyword), "`enum` has no values: left out, since it would allow nothing")
        return
    if any(map(_is_deep, written)):
        schemas.problems.repair(place.at(keyword), "`enum` has a value of many parts: left out")
        return
    # By their JSON, since `1 == True` in Python.
    once = list({json.dumps(value, sort_keys=True): value for value in written}.values())
    if len(once) != len(written):
        schemas.problems.repair(place.at(keyword), "`enum` has a value twice: it counts once")
    converted[keyword] = once


def _const(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    if _is_deep(place.value[keyword]):
        schemas.problems.repair(place.at(keyword), "`const` is a value of many parts: left out")
    else:
        converted[keyword] = place.value[keyword]


def _is_deep(value: Json) -> bool:
    """Tell whether a value is nested so deep that no argument is compared with it."""
    level = [value]
    for _ in range(DEEPEST // 2):
        level = [part for each in level for part in parts_of(each)]
    return bool(level)


def parts_of(value: Json) -> list[Json]:
    """Return the values in an array or an object."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _default(_: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], __: int) -> None:
    """Keep a default that plainly is one: many stand beside a type or values that they do not fit."""
    value = place.value[keyword]
    fits = any(_has_type(value, kind) for kind in _kinds(converted))
    if fits and not isinstance(value, dict | list) and value in converted.get("enum", [value]):
        converted[keyword] = value


def _has_type(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, JSON_TYPES[kind])


JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "boolean": bool,
    "object": dict,
    "array": list,
    "number": (int, float),
    "integer": int,
    "string": str,
}


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    value = place.value[keyword]
    # `5.0` is a count, too.
    if _is_number(value) and value >= 0 and float(value).is_integer():
        converted[keyword] = int(value)
    else:
        schemas.problems.repair(place.at(keyword), f"`{keyword}` is no count: left out")


def _number(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    value = place.value[keyword]
    if _is_number(value) and (keyword != "multipleOf" or value > 0):
        converted[keyword] = value
    else:
        schemas.problems.repair(place.at(keyword), f"`{keyword}` is no number that it can be: left out")


def _exclusive(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    """Read `true` as draft 4 does: the bound beside it is not allowed itself."""
    value, bound = place.value[keyword], keyword.removeprefix("exclusive").lower()
    if value is True and _is_number(place.value.get(bound)):
        # The bound is converted before this keyword, and would otherwise stay beside it.
        converted[keyword] = converted.pop(bound, place.value[bound])
        if not schemas.is_old:
            schemas.problems.repair(place.at(keyword), f"`{keyword}` is `true`, as in draft 4: `{bound}` is the bound")
    elif _is_number(value):
        converted[keyword] = value


def _pattern(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    pattern = place.value[keyword]
    if isinstance(pattern, str) and is_fast(pattern, converted.get("maxLength")):
        converted[keyword] = pattern
    else:
        message = "a pattern is no regular expression of ECMA-262, or a slow one: left out, and the API judges"
        schemas.problems.repair(place.at(keyword), message)


# Documents repeat the same pattern in many schemas.
@cache
def is_fast(pattern: str, longest: int | None) -> bool:
    """Tell whether a pattern can be used: it is one of ECMA-262, and no text takes it long."""
    try:
        translate(pattern)
    except PatternError:
        return False
    span = Span("")
    bound = {} if longest is None else {"maxLength": implied_node(longest, span)}
    return not any(slow_patterns({"pattern": implied_node(pattern, span), **bound}))


def _subschema(
    schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], depth: int
) -> None:
    value = place.value[keyword]
    converted[keyword] = value if isinstance(value, bool) else schemas.subschema(place.at(keyword), depth + 1)


def _items(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], depth: int) -> None:
    value = place.at(keyword)
    if isinstance(value.value, list):
        schemas.problems.repair(value, "`items` is a list, as in draft 4: read as `prefixItems`")
        converted["prefixItems"] = [schemas.subschema(item, depth + 1) for item in value.items()] or [{}]
    else:
        converted[keyword] = schemas.subschema(value, depth + 1)


def _list(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], depth: int) -> None:
    items = place.at(keyword).items()
    if not items:
        schemas.problems.repair(place.at(keyword), f"`{keyword}` has no schemas: left out")
        return
    parts = [schemas.subschema(item, depth + 1) for item in items]
    tagged = place.value.get("discriminator") if keyword != "allOf" else None
    if isinstance(tagged, dict) and isinstance(tagged.get("propertyName"), str):
        parts = [_tagged(schemas, item, part, tagged) for item, part in zip(items, parts, strict=True)]
    converted[keyword] = parts


def _tagged(schemas: SchemaReader, branch: DocumentValue, converted: Json, tagged: dict[str, Json]) -> Json:
    """Return a branch that has its own value of the property that distinguishes the branches."""
    written, name = branch.value, tagged["propertyName"]
    if not isinstance(written, dict) or not isinstance(written.get("$ref"), str) or set(converted) != {"$ref"}:
        return converted
    target = schemas.follow(branch).value
    own = target.get("properties", {}).get(name) if isinstance(target, dict) else None
    if isinstance(own, dict) and ("enum" in own or "const" in own):
        return converted
    short = written["$ref"].rpartition("/")[2]
    mapping = tagged.get("mapping") if isinstance(tagged.get("mapping"), dict) else {}
    values = [value for value, named in (mapping or {}).items() if named in (written["$ref"], short)]
    tag_schema = {"const": values[0]} if len(values) == 1 else {"enum": values} if values else None
    # Without a mapping, the value that means a schema is the schema's name.
    if tag_schema is None and not mapping:
        tag_schema = {"const": short}
    return converted if tag_schema is None else {**converted, "properties": {name: tag_schema}, "required": [name]}


def _map(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], depth: int) -> None:
    members = place.at(keyword).members()
    if keyword == "patternProperties":
        members = [(key, part) for key, part in members if is_fast(key, None)]
    if members:
        converted[keyword] = {key: schemas.subschema(part, depth + 1) for key, part in members}


def _properties(
    schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], depth: int
) -> None:
    kept = {
        key: schemas.subschema(part, depth + 1)
        for key, part in place.at(keyword).members()
        if not schemas.is_left_out(part) and not _is_hidden_name(schemas, part, key)
    }
    converted[keyword] = kept


def _is_hidden_name(schemas: SchemaReader, part: DocumentValue, name: str) -> bool:
    if not has_hidden(name):
        return False
    schemas.problems.repair(part, "the name of a property has characters that nobody sees: left out")
    return True


def _required(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    written = place.value[keyword]
    if not isinstance(written, list):
        # `required: true` in a property is of draft 3, and says nothing of the object here.
        if not isinstance(written, bool):
            schemas.problems.repair(place.at(keyword), "`required` is no list: left out")
        return
    names = list(dict.fromkeys(item for item in written if isinstance(item, str)))
    if len(names) != len(written):
        schemas.problems.repair(place.at(keyword), "`required` has a name twice: it counts once")
    declared = place.value.get("properties")
    gone = {
        name for name in (declared if isinstance(declared, dict) else ()) if name not in converted.get("properties", {})
    }
    names = [name for name in names if name not in gone]
    if names:
        converted[keyword] = names


def _dependent(_: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], __: int) -> None:
    value = place.value[keyword]
    if isinstance(value, dict) and all(isinstance(names, list) for names in value.values()):
        converted[keyword] = {key: list(dict.fromkeys(filter(_is_text, names))) for key, names in value.items()}


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _recursive(schemas: SchemaReader, place: DocumentValue, keyword: str, converted: dict[str, Json], _: int) -> None:
    converted["$ref"] = DEFINITIONS + schemas.name_of(schemas.recursion(place, keyword))


# A row reads what others above it made: `format` and `default` the type, `pattern` the length, and so on.
KEYWORDS: tuple[tuple[str, Callable[[SchemaReader, DocumentValue, str, dict[str, Json], int], None]], ...] = (
    ("type", _type),
    ("format", _format),
    ("description", _text),
    ("deprecated", _flag),
    ("enum", _enum),
    ("const", _const),
    ("default", _default),
    *((keyword, _number) for keyword in NUMBERS),
    ("exclusiveMinimum", _exclusive),
    ("exclusiveMaximum", _exclusive),
    *((keyword, _count) for keyword in COUNTS),
    ("uniqueItems", _flag),
    ("pattern", _pattern),
    ("contentEncoding", _encoding),
    ("contentMediaType", _encoding),
    ("items", _items),
    ("properties", _properties),
    ("required", _required),
    ("dependentRequired", _dependent),
    *((keyword, _list) for keyword in LISTS),
    *((keyword, _map) for keyword in MAPS),
    *((keyword, _subschema) for keyword in SCHEMAS),
    ("$recursiveRef", _recursive),
    ("$dynamicRef", _recursive),
)
"""In this order in a schema that is made; whatever has no row is left out."""
