"""Resolution of references for models: an unresolved reference is left out of a model.

The compiled validator is exact about references (`mcpc.schema.resources`); a model only types what is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mcpc.schema.resources import resolve_uri, uri_of_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.model.ir import Schema
    from mcpc.reading import Json

LEGACY_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")
"""Dialects in which keywords beside a `$ref` are ignored."""
MAPS = frozenset(("$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"))
OTHERS = frozenset(
    (
        *("allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalItems", "unevaluatedItems"),
        *("additionalProperties", "unevaluatedProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    )
)
MAX_DEPTH = 200
"""Maximum depth of the search for names."""


class SchemaPart(NamedTuple):
    """A schema, the base URI of its references, and its keywords that were processed."""

    schema: dict[str, Json]
    base: str
    done: frozenset[str] = frozenset()


class SchemaLibrary:
    """The schemas that a schema may refer to: itself and its subschemas; `lower` added those of other files.

    `called`: the names of those that were referred to, by identity.
    """

    def __init__(self, schema: Schema) -> None:
        self._resources: dict[str, SchemaPart] = {}
        self._names: dict[tuple[str, str], SchemaPart] = {}
        self._legacy: set[str] = set()
        self.called: dict[int, str] = {}
        root = schema.value if isinstance(schema.value, dict) else {}
        self.root = self._add_document(SchemaPart(root, uri_of_file(schema.node.path)))

    def is_legacy(self, part: SchemaPart) -> bool:
        """Tell whether keywords beside a `$ref` are ignored here."""
        return part.base in self._legacy

    def inside(self, part: SchemaPart, value: Json) -> SchemaPart | None:
        """Return a subschema; None for one without keywords."""
        if not isinstance(value, dict) or not value:
            return None
        name = value.get("$id")
        base = resolve_uri(part.base, name)[0] if isinstance(name, str) else part.base
        return SchemaPart(value, base if base in self._resources else part.base)

    def follow(self, part: SchemaPart, reference: Json) -> SchemaPart | None:
        """Return the target of a reference in `part`, if it is found."""
        if not isinstance(reference, str):
            return None
        uri, fragment = resolve_uri(part.base, reference)
        found = self._resources.get(uri)
        if found and fragment:
            found = self._place(found, fragment) if fragment[0] == "/" else self._names.get((found.base, fragment))
        if found:
            self.called.setdefault(id(found.schema), fragment.rpartition("/")[2] or uri.rpartition("/")[2])
        return found

    def _place(self, found: SchemaPart, pointer: str) -> SchemaPart | None:
        value: Json = found.schema
        for token in pointer.split("/")[1:]:
            found = self.inside(found, value) or found
            value = _child_value(value, token.replace("~1", "/").replace("~0", "~"))
        return self.inside(found, value)

    def _add_document(self, root: SchemaPart) -> SchemaPart:
        """Record a document, and every name in it."""
        self._resources[root.base] = top = self._add_names(root)
        waiting = [(child, 0) for child in _children(top)]
        while waiting:
            part, depth = waiting.pop()
            part = self._add_names(part)
            waiting += [(child, depth + 1) for child in _children(part)] if depth < MAX_DEPTH else []
        return top

    def _add_names(self, part: SchemaPart) -> SchemaPart:
        """Record a schema's names, and return it with its URI."""
        schema, base = part.schema, part.base
        legacy = base in self._legacy
        name, fragment = schema.get("$id"), ""
        if isinstance(name, str) and not ("$ref" in schema and legacy):
            base, fragment = resolve_uri(base, name)
            part = SchemaPart(schema, base)
            if not fragment:
                self._resources.setdefault(base, part)
        if legacy or any(draft in str(schema.get("$schema", "")) for draft in LEGACY_DRAFTS):
            self._legacy.add(base)
        for anchor in (fragment, schema.get("$anchor"), schema.get("$dynamicAnchor")):
            if isinstance(anchor, str) and anchor:
                self._names.setdefault((base, anchor), part)
        return part


def _children(part: SchemaPart) -> Iterator[SchemaPart]:
    """Yield the direct subschemas."""
    for key, value in part.schema.items():
        if key in MAPS and isinstance(value, dict):
            yield from (SchemaPart(child, part.base) for child in value.values() if isinstance(child, dict))
        elif key in OTHERS and isinstance(value, list):
            yield from (SchemaPart(child, part.base) for child in value if isinstance(child, dict))
        elif key in OTHERS and isinstance(value, dict):
            yield SchemaPart(value, part.base)


def _child_value(value: Json, token: str) -> Json:
    if isinstance(value, dict):
        return value.get(token)
    if isinstance(value, list) and token.isdecimal() and len(token) < 10 and int(token) < len(value):
        return value[int(token)]
    return None
