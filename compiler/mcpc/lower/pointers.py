"""Follow JSON Pointers through schemas: what a schema says of the value, and whether it says that there is none.

What no schema says is None, and may be anything: references to elsewhere and combined schemas are not followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.lower.command_lines import kinds_of
from mcpc.model.definitions import KIND_NAMES
from mcpc.reading import member_of
from mcpc.reading.json_tree import compact_json, implied_node

if TYPE_CHECKING:
    from mcpc.reading import Json, Node

# Without zeros in front (RFC 6901, section 4).
INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
COMBINED = ("$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies")
MAX_REFERENCES = 16


@dataclass(frozen=True, slots=True)
class Described:
    """A value by its schema; `root`: what references in it point into; `closed`: it has no members without a name."""

    schema: Node
    root: Node
    closed: bool = False

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the value; none if they are not known."""
        schema = resolve(self)
        return frozenset() if schema is None else kinds_of(schema)


@dataclass(frozen=True, slots=True)
class PointerFault:
    """Why there is no value; one that is not `certain` is only not named by its schema."""

    message: str
    expected: str = ""
    hint: str = ""
    certain: bool = True


def constant(value: Json, node: Node) -> Described:
    """Return a value that is written in a definition."""
    schema = implied_node({"const": value}, node.span)
    return Described(schema, schema)


def tokens_of(pointer: str) -> tuple[str, ...] | None:
    """Return the tokens of a JSON Pointer; None if it is not one, or points to everything."""
    if not pointer.startswith("/") or re.search("~(?![01])", pointer):
        return None
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def resolve(value: Described) -> Node | None:
    """Return the schema of a value behind its references; None if it may be anything."""
    schema: Node | None = value.schema
    # More references in a row are taken for a circle.
    for _ in range(MAX_REFERENCES):
        reference = member_of(schema, "$ref", "string")
        if reference is None:
            return schema if schema is not None and is_plain(schema) else None
        schema = value.root
        # A reference to an anchor, or to the whole, is not followed: no schema has a member `#`.
        for token in tokens_of(str(reference.value).removeprefix("#")) or ("#",):
            schema = member_of(schema, token)
    return None


def is_plain(schema: Node) -> bool:
    """Tell whether the keywords of a schema alone say what a value is."""
    return schema.kind == "object" and all(schema.get(keyword) is None for keyword in COMBINED)


def names_of(value: Described) -> list[str]:
    """Return the members that a schema names."""
    schema = resolve(value)
    properties = member_of(schema, "properties", "object")
    return [member.key for member in properties.members] if properties is not None else []


def member_at(value: Described, token: str) -> tuple[Described | None, PointerFault | None]:
    """Return the member or the item of a value, and what is wrong with asking for it."""
    schema = resolve(value)
    if schema is None:
        return None, None
    kinds = kinds_of(schema)
    if kinds and not kinds & {"object", "array"}:
        return None, PointerFault(f"is {shown_kinds(kinds)}, which has no `{token}`")
    if "array" in kinds or (not kinds and schema.get("items") is not None):
        is_index = INDEX.fullmatch(token) is not None
        if is_index and "object" not in kinds:
            return item_at(value, schema, int(token))
        if not is_index and kinds and "object" not in kinds:
            return None, PointerFault(
                f"is an array, which has no `{token}`", "the number of an item, or `each` for all"
            )
        return None, None
    return property_of(value, schema, token)


def item_at(value: Described, schema: Node, number: int) -> tuple[Described | None, PointerFault | None]:
    """Return the item of an array."""
    first, others = member_of(schema, "prefixItems", "array"), schema.get("items")
    item = first.items[number] if first is not None and number < len(first.items) else others
    if item is not None and item.value is False:
        return None, PointerFault(f"is an array without an item {number}")
    return (Described(item, value.root) if item is not None else None), None


def property_of(value: Described, schema: Node, name: str) -> tuple[Described | None, PointerFault | None]:
    """Return the member of an object."""
    properties, others = member_of(schema, "properties", "object"), schema.get("additionalProperties")
    named = member_of(properties, name)
    names = names_of(value)
    if named is not None and named.value is not False:
        return Described(named, value.root), None
    if named is None and (schema.get("patternProperties") is not None or (others is None and not value.closed)):
        is_unnamed = bool(names) and schema.get("patternProperties") is None
        unnamed = PointerFault(
            f"has no `{name}` in its schema", quoted(names), did_you_mean(name, names), certain=False
        )
        return None, unnamed if is_unnamed else None
    if value.closed or (others is not None and others.value is False) or named is not None:
        return None, PointerFault(f"has no `{name}`", quoted(names), did_you_mean(name, names))
    return (Described(others, value.root) if others is not None else None), None


def items_of(value: Described | None) -> tuple[Described | None, PointerFault | None]:
    """Return what all items of a list are."""
    schema = None if value is None else resolve(value)
    if value is None or schema is None:
        return None, None
    kinds = kinds_of(schema)
    if kinds and "array" not in kinds:
        return None, PointerFault(f"is {shown_kinds(kinds)}, and not a list")
    items = schema.get("items")
    is_same = items is not None and items.kind == "object" and schema.get("prefixItems") is None
    return (Described(items, value.root) if items is not None and is_same else None), None


def mismatch(value: Described | None, place: Described | None) -> str:
    """Return why a value never fits where it is used, an empty text if it may."""
    if value is None or place is None or not value.kinds or not place.kinds:
        return ""
    if not value.kinds & place.kinds:
        return f"is {shown_kinds(value.kinds)}, where {shown_kinds(place.kinds)} is expected"
    written, known = value.schema.get("const"), place.schema.get("enum")
    if written is not None and known is not None:
        choices = [compact_json(choice.value).decode() for choice in known.items]
        text = compact_json(written.value).decode()
        return f"is `{text}`, where one of {quoted(choices)} is expected" if text not in choices else ""
    return ""


def shown_kinds(kinds: frozenset[str]) -> str:
    """Return kinds of values in words."""
    return " or ".join(KIND_NAMES.get(kind, kind) for kind in sorted(kinds))
