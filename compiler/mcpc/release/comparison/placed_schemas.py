"""Schemas in their documents, the schemas that hold together with them, the types that they leave, and their places.

`closed` reads a schema as callers do: a property that is not declared is not sent.  Nearly all tools leave
`additionalProperties` out.  Taken literally, every new argument of theirs would break callers that have sent something
else by that name.  So an object with `properties` that says nothing about others is closed, where it describes a value
by itself: not below `allOf`, `not` or `if`, and not beside them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import unquote

from jsonschema import FormatChecker
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcpc.schema.dialects import DRAFT_2020_12
from mcpc.schema.jsonschema_oracle import DRAFTS, TooLongError, is_valid
from mcpc_runtime.protocol.validation.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = Any


ANNOTATIONS = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment")
NAMED = ("dependentSchemas", "patternProperties", "properties")
OLD_DRAFTS = ("draft-07", "draft-06", "draft-04", "draft-03")
"""Drafts in which keywords beside `$ref` mean nothing."""
NAMES = ("null", "boolean", "number", "string", "array", "object")
KINDS = frozenset((*NAMES, "integer", "fraction")) - {"number"}
"""JSON types, with numbers that are integers apart from those that are not."""
MAX_PARTS = 100
MAX_REFERENCES = 60
"""References that are followed for one value."""
UNUSABLE = (KeyError, Unresolvable, TooLongError, RecursionError, re.error, ValueError, TypeError, OverflowError)
"""What is raised for a schema that the library cannot use."""


def _format_checker() -> FormatChecker:
    # None of the library's own checks, which depend on what else is installed.
    checker = FormatChecker(formats=())
    for name, accepts in FORMATS.items():
        check = lambda value, accepts=accepts: not isinstance(value, str) or accepts(value)  # noqa: E731
        checker.checkers = {**checker.checkers, name: (check, ())}
    return checker


CHECKER = _format_checker()
"""The formats, which are a part of a contract whether or not a server checks them."""


class MalformedError(ValueError):
    """A keyword has a value of another type, or a schema cannot be used to validate values."""


@dataclass(frozen=True, eq=False)
class Document:
    """A whole schema."""

    value: Json

    def target(self, reference: str) -> Json | None:
        """Return the schema that a local reference leads to; None for any other, and below another `$id`."""
        if not reference.startswith("#") or any(each is not self.value for each in self.ids):
            return None
        target = self.value
        for step in unquote(reference[1:]).split("/")[1:]:
            # RFC 6901, section 4: `~1` first, since `~01` stands for `~1` and not for `/`.
            name = step.replace("~1", "/").replace("~0", "~")
            rows = {str(at): each for at, each in enumerate(target)} if isinstance(target, list) else target
            target = rows.get(name) if isinstance(rows, dict) else None
        is_pointer = reference == "#" or reference.startswith("#/")
        return target if is_pointer and isinstance(target, dict | bool) else None

    @cached_property
    def ids(self) -> list[Json]:
        """The schemas in it that have an address."""
        return [each for each in _objects(self.value) if "$id" in each]

    @cached_property
    def text(self) -> str:
        """The same text for equal documents."""
        return json.dumps(self.value, sort_keys=True)

    @property
    def draft(self) -> str:
        """The URI of its draft; empty if it names none."""
        return str(self.value.get("$schema", "")).rstrip("#") if isinstance(self.value, dict) else ""


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    """Yield every object in a document, which includes all its schemas."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


class PlacedSchema(NamedTuple):
    """A schema in its document."""

    schema: Json
    document: Document

    @property
    def keywords(self) -> dict[str, Json]:
        """Its keywords; none if it is a boolean."""
        return self.schema if isinstance(self.schema, dict) else {}

    def get(self, name: str, form: type | tuple[type, ...], default: Any) -> Any:
        """Return the value of a keyword; raise MalformedError."""
        value = self.keywords.get(name, default)
        if not isinstance(value, form) and value is not default:
            raise MalformedError(f"`{name}`")
        return value

    def at(self, schema: Json) -> PlacedSchema:
        """Return another schema of the same document."""
        return PlacedSchema(schema, self.document)

    def among(self, name: str) -> list[PlacedSchema]:
        """Return the schemas of a keyword that has a list of them."""
        return [*map(self.at, self.get(name, list, []))]

    def effective(self) -> PlacedSchema:
        """Return it with the keywords that mean something."""
        is_old = any(name in self.document.draft for name in OLD_DRAFTS)
        return self.at({"$ref": self.keywords["$ref"]}) if is_old and "$ref" in self.keywords else self

    def target(self) -> PlacedSchema | None:
        """Return what `$ref` leads to; None if that is not a part of the document."""
        referred = self.document.target(self.get("$ref", str, ""))
        return None if referred is None else self.at(referred)

    def accepts(self, value: Json, *, formats: bool) -> bool:
        """Tell whether a value is valid; raise MalformedError."""
        try:
            # An unknown draft raises KeyError, which is one of UNUSABLE.
            draft = DRAFTS[self.document.draft or DRAFT_2020_12.uri]
            validator = draft(self.document.value, registry=Registry(), format_checker=CHECKER if formats else None)
            return is_valid(validator.evolve(schema=self.schema), value, MAX_REFERENCES)
        except UNUSABLE as problem:
            raise MalformedError(type(problem).__name__) from None


class Search(Protocol):
    """What a rule can ask."""

    def decide(self, wide: PlacedSchema, narrow: tuple[PlacedSchema, ...]) -> bool | None:
        """Tell whether `wide` accepts every value that all of `narrow` accept."""

    def below(self, wide: PlacedSchema, *narrow: PlacedSchema) -> bool | None:
        """Tell the same of the values of a property or an item."""


def together(*parts: PlacedSchema) -> tuple[PlacedSchema, ...]:
    """Return schemas with all that hold together with them: by `allOf` and `$ref`."""
    waiting, parts_below = [*parts], list[PlacedSchema]()
    # References that lead back to themselves end at the limit, too.
    while waiting and len(parts_below) < MAX_PARTS:
        part = waiting.pop(0).effective()
        target = part.target()
        waiting += [*part.among("allOf"), *([] if target is None else [target])]
        parts_below.append(part)
    return tuple(parts_below)


def kinds_of(parts: tuple[PlacedSchema, ...]) -> frozenset[str]:
    """Return the types of the values that parts may have."""
    kinds = KINDS
    for part in parts:
        names = part.get("type", (str, list), None)
        kinds = frozenset() if part.schema is False else kinds if names is None else kinds & named_kinds(names)
    return kinds


def named_kinds(kinds: str | list[str]) -> frozenset[str]:
    """Return the types that a value of `type` names."""
    names = {kinds} if isinstance(kinds, str) else {*kinds}
    return KINDS & (names | {"integer", "fraction"} if "number" in names else names)


def values_of(parts: tuple[PlacedSchema, ...]) -> list[Json] | None:
    """Return the values that parts have, and perhaps others that they have not; None if these are not finitely many."""
    for part in parts:
        if "const" in part.keywords or "enum" in part.keywords:
            values: list[Json] = part.get("enum", list, [])
            return [part.keywords["const"]] if "const" in part.keywords else values
    kinds = kinds_of(parts)
    return (
        [*[None] * ("null" in kinds), *[False, True] * ("boolean" in kinds)] if kinds <= {"null", "boolean"} else None
    )


def is_same(one: PlacedSchema, other: PlacedSchema) -> bool:
    """Tell whether two schemas are written the same, in any order and with any annotations."""
    text = json.dumps(_meaning(one.schema), sort_keys=True)
    if text != json.dumps(_meaning(other.schema), sort_keys=True):
        return False
    # The same reference leads to the same schema in equal documents only.
    has_reference = any(f'"{name}"' in text for name in ("$ref", "$dynamicRef", "$recursiveRef"))
    return not has_reference or one.document.text == other.document.text


def _meaning(schema: Json) -> Json:
    """Return a schema without the annotations in it."""
    if isinstance(schema, list):
        return [*map(_meaning, schema)]
    if not isinstance(schema, dict):
        return schema
    meaning = {name: each for name, each in schema.items() if name not in ANNOTATIONS}
    for name, each in meaning.items():
        # Keys of these are names, of which one may be `title`; `const` and `enum` have values, and no schemas.
        if name in NAMED and isinstance(each, dict):
            meaning[name] = {key: _meaning(value) for key, value in each.items()}
        elif name not in ("const", "enum"):
            meaning[name] = _meaning(each)
    return meaning


MAX_SHOWN = 60
MAX_RESOLVED = 20


def escaped(name: str) -> str:
    """Return a name as a part of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def label(pointer: str) -> str:
    """Return the place of a pointer as people read it: `a[].b`; for the whole schema what it is of."""
    steps = pointer.split("/")[1:]
    text, at = "", 1
    while at < len(steps):
        if steps[at] == "properties" and at + 1 < len(steps):
            text += "." + steps[at + 1].replace("~1", "/").replace("~0", "~")
            at += 1
        elif steps[at] in ("items", "prefixItems"):
            text += "[]"
        at += 1
    whole = "arguments" if steps[0] == "inputSchema" else "results"
    return f"`{text.removeprefix('.')}`" if text else whole


def quoted_value(value: Json) -> str:
    """Return a value as JSON, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '…'}`"


def resolved(schema: Json, root: Json) -> Json:
    """Return a schema with the keywords of what `$ref` leads to; its own come first."""
    document = Document(root)
    for _ in range(MAX_RESOLVED):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            return schema
        target = document.target(schema["$ref"])
        own = {name: each for name, each in schema.items() if name != "$ref"}
        if target is None or (own and not isinstance(target, dict)):
            return schema
        schema = {**target, **own} if isinstance(target, dict) else target
    return schema


OPEN = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")
BESIDE = ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "$recursiveRef", "dependentSchemas", "$id")
ALTERNATIVES = ("anyOf", "oneOf", "prefixItems")
HARMLESS = (
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "$comment",
    "$schema",
    "$defs",
    "definitions",
)
SUFFIX = "~closed"
PREFIXES = ("#/$defs/", "#/definitions/")


def closed(schema: Json) -> Json:
    """Return a schema whose objects have their declared properties only."""
    if not isinstance(schema, dict):
        return schema
    closed_schema = _closed(schema)
    for holder in ("$defs", "definitions"):
        definitions = schema.get(holder)
        if isinstance(definitions, dict):
            # The open ones stay, because references that are not closed (below `not` or `allOf`) lead to them.
            copies = {f"{name}{SUFFIX}": _closed(each) for name, each in definitions.items()}
            closed_schema[holder] = {**definitions, **copies}
    return closed_schema


def _closed(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    closed_schema = dict(schema)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(PREFIXES) and {*schema} <= {"$ref", *HARMLESS}:
        # A longer pointer leads into a definition, and only whole ones have a closed copy.
        return {**closed_schema, "$ref": reference + SUFFIX} if reference.count("/") == 2 else closed_schema
    if isinstance(schema.get("properties"), dict):
        closed_schema["properties"] = {name: _closed(each) for name, each in schema["properties"].items()}
        if not any(name in schema for name in (*OPEN, *BESIDE)):
            closed_schema["additionalProperties"] = False
    closed_schema.update(_closed_items(schema))
    return closed_schema


def _closed_items(schema: Mapping[str, Json]) -> dict[str, Json]:
    closed_items: dict[str, Json] = {}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            closed_items[name] = _closed(schema[name])
    for name in (*ALTERNATIVES, "items"):
        if isinstance(schema.get(name), list):
            closed_items[name] = [*map(_closed, schema[name])]
    return closed_items
