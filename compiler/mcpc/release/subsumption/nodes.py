"""Schemas as nodes: keywords of 2020-12 without annotations, each distinct schema once: equal ones are identical.

What a node means is in its keywords alone, unless it has references: then its document is a part of its identity.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = Any

ANNOTATIONS = frozenset((
    *("$comment", "$schema", "$id", "$anchor", "$defs", "definitions", "$vocabulary", "title", "description"),
    *("default", "examples", "deprecated", "readOnly", "writeOnly"),
    *("contentEncoding", "contentMediaType", "contentSchema"),
))  # fmt: skip
ONE = (
    *("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
NAMED = ("dependentSchemas", "patternProperties", "properties")
OTHERS = frozenset((
    *("type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "format", "maxItems", "minItems", "uniqueItems", "maxContains"),
    *("minContains", "maxProperties", "minProperties", "required", "dependentRequired"),
    *("$ref", "$dynamicRef", "$recursiveRef"),
))  # fmt: skip
REFERENCES = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"')
HOLDERS = (*NAMED, "$defs", "definitions", "dependencies")
OLD_DRAFTS = ("draft-07", "draft-06", "draft-04", "draft-03")


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A whole schema in the form of 2020-12, with what its references lead to.  `key`: the same for equal documents."""

    value: Json
    key: str

    def target(self, reference: str) -> Json | None:
        """Return the schema that a local reference leads to; None for any other, and below another `$id`."""
        if reference == "#":
            return self.value
        if not reference.startswith("#") or _has_inner_id(self.value):
            return None
        if not reference.startswith("#/"):
            return next((each for each in _schemas(self.value) if each.get("$anchor") == reference[1:]), None)
        found = self.value
        for step in unquote(reference[2:]).split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found if isinstance(found, dict | bool) else None


@dataclass(frozen=True, slots=True, eq=False)
class SchemaNode:
    """A schema: its keywords, with schemas as nodes; `value` is True or False for a boolean schema.

    `written`: the same as JSON.
    """

    document: Document
    written: Json
    value: bool | None
    keywords: dict[str, Any]


class Nodes:
    """All nodes of a comparison."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], SchemaNode] = {}
        self._targets: dict[tuple[str, str], SchemaNode | None] = {}

    def root(self, value: Json) -> SchemaNode:
        """Return the node of a whole schema."""
        modern = modernised(value, _is_old(value))
        return self.node(modern, Document(modern, json.dumps(modern, sort_keys=True)))

    def node(self, value: Json, document: Document) -> SchemaNode:
        """Return the node of a schema in a document."""
        text = json.dumps(_meaning(value), sort_keys=True)
        key = (document.key if any(name in text for name in REFERENCES) else "", text)
        if key not in self._known:
            is_boolean = not isinstance(value, dict)
            node = self._known[key] = SchemaNode(document, value, value is not False if is_boolean else None, {})
            node.keywords.update(() if is_boolean else self._keywords(value, document))
        return self._known[key]

    def _keywords(self, value: dict[str, Json], document: Document) -> Iterator[tuple[str, Any]]:
        for name, given in sorted(value.items()):
            if name in ONE:
                yield name, self.node(given, document)
            elif name in MANY and isinstance(given, list):
                yield name, tuple(self.node(each, document) for each in given)
            elif name in NAMED and isinstance(given, dict):
                yield name, {key: self.node(each, document) for key, each in sorted(given.items())}
            elif name in OTHERS:
                yield name, given

    def target(self, node: SchemaNode) -> SchemaNode | None:
        """Return the node that `$ref` leads to; None if that is not a part of the document."""
        reference = node.keywords["$ref"]
        key = (node.document.key, reference)
        if key not in self._targets:
            found = node.document.target(reference) if isinstance(reference, str) else None
            self._targets[key] = None if found is None else self.node(found, node.document)
        return self._targets[key]


def modernised(value: Json, is_old: bool) -> Json:
    """Return a schema with the keywords of 2020-12, as far as older drafts have others; `is_old`: before 2019-09."""
    if not isinstance(value, dict):
        return value
    if is_old and "$ref" in value:
        value = {name: value[name] for name in ("$ref", "$defs", "definitions") if name in value}
    found = {name: _modern_value(name, given, is_old) for name, given in value.items() if name != "$schema"}
    if isinstance(found.get("items"), list):
        found["prefixItems"] = found.pop("items")
        if "additionalItems" in found:
            found["items"] = found.pop("additionalItems")
    dependencies = found.pop("dependencies", None)
    for name, given in dependencies.items() if isinstance(dependencies, dict) else ():
        keyword = "dependentRequired" if isinstance(given, list) else "dependentSchemas"
        found[keyword] = {**found.get(keyword, {}), name: given}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(found.get(exclusive), bool) and found.pop(exclusive) and bound in found:
            found[exclusive] = found.pop(bound)
    return found


def _modern_value(name: str, given: Json, is_old: bool) -> Json:
    if name in HOLDERS and isinstance(given, dict):
        return {key: modernised(each, is_old) for key, each in given.items()}
    if name in (*MANY, "items") and isinstance(given, list):
        return [modernised(each, is_old) for each in given]
    return modernised(given, is_old) if name in ONE or name == "additionalItems" else given


def _is_old(value: Json) -> bool:
    draft = value.get("$schema") if isinstance(value, dict) else None
    return isinstance(draft, str) and any(name in draft for name in OLD_DRAFTS)


def _meaning(value: Json) -> Json:
    """Return a schema without the annotations in it."""
    if not isinstance(value, dict):
        return value
    found = {}
    for name, given in value.items():
        if name in ONE:
            found[name] = _meaning(given)
        elif name in MANY and isinstance(given, list):
            found[name] = [*map(_meaning, given)]
        elif name in NAMED and isinstance(given, dict):
            found[name] = {key: _meaning(each) for key, each in given.items()}
        elif name not in ANNOTATIONS:
            found[name] = sorted(given) if name in ("required", "type") and _are_texts(given) else given
    return found


def _are_texts(given: Json) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _schemas(value: Json) -> Iterator[dict[str, Json]]:
    """Yield every object in a document, which includes all its schemas."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            yield found
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found


def _has_inner_id(value: Json) -> bool:
    return any(isinstance(each.get("$id"), str) for each in _schemas(value) if each is not value)
