"""The supported drafts of JSON Schema, as differences from 2020-12, and their keywords converted to 2020-12.

A draft is a row: its keywords, and a few rules in which drafts differ.  `canonical` converts keywords of an earlier
draft to those of 2020-12, so that later stages do not know about drafts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.schema.keywords import BOOLEAN, KEYWORDS, REFERENCE, SCHEMA, SCHEMA_OR_SCHEMAS, STRING, Keyword

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.reading import Member, Node


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One draft.

    `lone_reference`: keywords beside `$ref` are ignored.  `fragment_names`: `$id` may be `#name`, which only names the
    place. `counts_contained`: an item that `contains` accepted is evaluated.
    """

    name: str
    uri: str
    keywords: Mapping[str, Keyword]
    lone_reference: bool = False
    fragment_names: bool = False
    counts_contained: bool = True


def _without(rows: Mapping[str, Keyword], *names: str) -> dict[str, Keyword]:
    return {name: row for name, row in rows.items() if name not in names}


_BY_PLACE = {
    "items": Keyword(SCHEMA_OR_SCHEMAS, "array"),
    "additionalItems": Keyword(SCHEMA, "array"),
}
_KEYWORDS_2019_09 = {
    **_without(KEYWORDS, "prefixItems", "$dynamicRef", "$dynamicAnchor"),
    **_BY_PLACE,
    "$recursiveRef": Keyword(REFERENCE, "any"),
    "$recursiveAnchor": Keyword(BOOLEAN),
}
_SINCE_2019_09 = (
    "dependentRequired",
    "dependentSchemas",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "deprecated",
    "$anchor",
    "$vocabulary",
    "$recursiveRef",
    "$recursiveAnchor",
)
# Up to this draft `$id` may be a fragment, as `#name`.
_KEYWORDS_07 = {**_without(_KEYWORDS_2019_09, *_SINCE_2019_09), "$id": Keyword(STRING)}

DRAFT_2020_12 = Dialect("draft 2020-12", "https://json-schema.org/draft/2020-12/schema", KEYWORDS)
DRAFT_2019_09 = Dialect(
    "draft 2019-09", "https://json-schema.org/draft/2019-09/schema", _KEYWORDS_2019_09, counts_contained=False
)
DRAFT_07 = Dialect(
    "draft-07", "http://json-schema.org/draft-07/schema", _KEYWORDS_07, lone_reference=True, fragment_names=True
)
DRAFT_06 = replace(
    DRAFT_07,
    name="draft-06",
    uri="http://json-schema.org/draft-06/schema",
    keywords=_without(_KEYWORDS_07, "if", "then", "else", "contentEncoding", "contentMediaType", "$comment"),
)
DIALECTS = {dialect.uri: dialect for dialect in (DRAFT_2020_12, DRAFT_2019_09, DRAFT_07, DRAFT_06)}
"""By their URI in `$schema`, without the empty fragment."""

DRAFT_BY_NAME = {
    "draft2020-12": DRAFT_2020_12,
    "draft2019-09": DRAFT_2019_09,
    "draft7": DRAFT_07,
    "draft6": DRAFT_06,
}

_CORE = ("$id", "$schema", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$comment", "$defs")
_CORE_2019_09 = ("$recursiveRef", "$recursiveAnchor")
_APPLICATOR = (
    *("prefixItems", "items", "additionalItems", "contains", "additionalProperties", "properties", "patternProperties"),
    *("dependentSchemas", "propertyNames", "if", "then", "else", "allOf", "anyOf", "oneOf", "not"),
)
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_VALIDATION = (
    *("type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains"),
    *("maxProperties", "minProperties", "required", "dependentRequired"),
)
_META_DATA = ("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples")
_CONTENT = ("contentEncoding", "contentMediaType", "contentSchema")
FORMAT_ASSERTION = "https://json-schema.org/draft/2020-12/vocab/format-assertion"
VOCABULARIES: dict[str, tuple[str, ...]] = {
    "https://json-schema.org/draft/2020-12/vocab/core": _CORE,
    "https://json-schema.org/draft/2020-12/vocab/applicator": _APPLICATOR,
    "https://json-schema.org/draft/2020-12/vocab/unevaluated": _UNEVALUATED,
    "https://json-schema.org/draft/2020-12/vocab/validation": _VALIDATION,
    "https://json-schema.org/draft/2020-12/vocab/meta-data": _META_DATA,
    "https://json-schema.org/draft/2020-12/vocab/format-annotation": ("format",),
    FORMAT_ASSERTION: ("format",),
    "https://json-schema.org/draft/2020-12/vocab/content": _CONTENT,
    "https://json-schema.org/draft/2019-09/vocab/core": (*_CORE, *_CORE_2019_09),
    "https://json-schema.org/draft/2019-09/vocab/applicator": (*_APPLICATOR, *_UNEVALUATED),
    "https://json-schema.org/draft/2019-09/vocab/validation": _VALIDATION,
    "https://json-schema.org/draft/2019-09/vocab/meta-data": _META_DATA,
    "https://json-schema.org/draft/2019-09/vocab/format": ("format",),
    "https://json-schema.org/draft/2019-09/vocab/content": _CONTENT,
}
"""The keywords of each vocabulary that a custom metaschema may name in `$vocabulary`."""


def canonical(written: Mapping[str, Node], dialect: Dialect) -> dict[str, Node]:
    """Return the keywords of a schema in the form of 2020-12."""
    if dialect.lone_reference and "$ref" in written:
        return {"$ref": written["$ref"]}
    keywords = dict(written)
    if "additionalItems" in dialect.keywords:
        _place_items(keywords)
    if "dependencies" in keywords:
        _part_dependencies(keywords)
    if "$recursiveRef" in keywords:
        keywords["$dynamicRef"] = keywords.pop("$recursiveRef")
    # Keywords without a row are those of other drafts, which have been converted.
    return {name: node for name, node in keywords.items() if name in KEYWORDS}


def _place_items(keywords: dict[str, Node]) -> None:
    """`{items: [A, B], additionalItems: C}` becomes `{prefixItems: [A, B], items: C}`; without `A, B`, `C` is idle."""
    others = keywords.pop("additionalItems", None)
    items = keywords.get("items")
    if items is not None and items.kind == "array":
        keywords["prefixItems"] = keywords.pop("items")
        if others is not None:
            keywords["items"] = others


def _part_dependencies(keywords: dict[str, Node]) -> None:
    """`dependencies` becomes `dependentRequired` for names, `dependentSchemas` for schemas."""
    node = keywords.pop("dependencies")
    names = tuple(member for member in node.members if member.node.kind == "array")
    schemas = tuple(member for member in node.members if member.node.kind != "array")
    for keyword, members in (("dependentRequired", names), ("dependentSchemas", schemas)):
        if members:
            keywords[keyword] = _with_members(keywords.get(keyword), node, members)


def _with_members(present: Node | None, node: Node, members: tuple[Member, ...]) -> Node:
    members = (*(present.members if present else ()), *members)
    return replace(node, members=members, value={member.key: member.node.value for member in members})
