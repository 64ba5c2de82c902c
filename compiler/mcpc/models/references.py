"""Where references lead, as far as a model has to know: what is found nowhere is no part of a model.

The compiled validator is exact about references (`mcpc.schema.resources`); a model only types what it can find.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mcpc.schema.resources import absolute, uri_of_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.ir import Schema
    from mcpc.sources import Json

LEGACY = ("draft-03", "draft-04", "draft-06", "draft-07")
"""Dialects in which nothing beside a `$ref` counts."""
MAPS = frozenset(("$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"))
OTHERS = frozenset(
    (
        *("allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalItems", "unevaluatedItems"),
        *("additionalProperties", "unevaluatedProperties", "not", "if", "then", "else", "contains"),
        *("propertyNames"),
    )
)
DEEPEST = 200
"""How deep names are looked for."""


class Part(NamedTuple):
    """A schema, the URI that references in it start from, and those of its keywords that were dealt with."""

    schema: dict[str, Json]
    base: str
    done: frozenset[str] = frozenset()


class Library:
    """The schemas a schema may refer to: itself and what it holds; `lower` put in what lay in other files.

    `called`: what those that were referred to are called, by their identity.
    """

    def __init__(self, schema: Schema) -> None:
        self._resources: dict[str, Part] = {}
        self._names: dict[tuple[str, str], Part] = {}
        self._legacy: set[str] = set()
        self.called: dict[int, str] = {}
        root = schema.value if isinstance(schema.value, dict) else {}
        self.root = self._shelve(Part(root, uri_of_file(schema.node.path)))

    def is_legacy(self, part: Part) -> bool:
        """Say whether nothing counts beside a `$ref` here."""
        return part.base in self._legacy

    def inside(self, part: Part, value: Json) -> Part | None:
        """Return a schema that lies in another one; None for one that says nothing."""
        if not isinstance(value, dict) or not value:
            return None
        name = value.get("$id")
        base = absolute(part.base, name)[0] if isinstance(name, str) else part.base
        return Part(value, base if base in self._resources else part.base)

    def follow(self, part: Part, reference: Json) -> Part | None:
        """Return what a reference in `part` leads to, if it is found."""
        if not isinstance(reference, str):
            return None
        uri, fragment = absolute(part.base, reference)
        found = self._resources.get(uri)
        if found and fragment:
            found = self._place(found, fragment) if fragment[0] == "/" else self._names.get((found.base, fragment))
        if found:
            self.called.setdefault(id(found.schema), fragment.rpartition("/")[2] or uri.rpartition("/")[2])
        return found

    def _place(self, found: Part, pointer: str) -> Part | None:
        value: Json = found.schema
        for token in pointer.split("/")[1:]:
            found = self.inside(found, value) or found
            value = _step(value, token.replace("~1", "/").replace("~0", "~"))
        return self.inside(found, value)

    def _shelve(self, root: Part) -> Part:
        """Note a document, and every name in it."""
        self._resources[root.base] = top = self._noted(root)
        waiting = [(child, 0) for child in _children(top)]
        while waiting:
            part, depth = waiting.pop()
            part = self._noted(part)
            waiting += [(child, depth + 1) for child in _children(part)] if depth < DEEPEST else []
        return top

    def _noted(self, part: Part) -> Part:
        """Note what a schema calls itself, and return it with the URI it then has."""
        schema, base = part.schema, part.base
        legacy = base in self._legacy
        name, fragment = schema.get("$id"), ""
        if isinstance(name, str) and not ("$ref" in schema and legacy):
            base, fragment = absolute(base, name)
            part = Part(schema, base)
            if not fragment:
                self._resources.setdefault(base, part)
        if legacy or any(draft in str(schema.get("$schema", "")) for draft in LEGACY):
            self._legacy.add(base)
        for anchor in (fragment, schema.get("$anchor"), schema.get("$dynamicAnchor")):
            if isinstance(anchor, str) and anchor:
                self._names.setdefault((base, anchor), part)
        return part


def _children(part: Part) -> Iterator[Part]:
    """Yield the schemas that lie directly in another one."""
    for key, value in part.schema.items():
        if key in MAPS and isinstance(value, dict):
            yield from (Part(child, part.base) for child in value.values() if isinstance(child, dict))
        elif key in OTHERS and isinstance(value, list):
            yield from (Part(child, part.base) for child in value if isinstance(child, dict))
        elif key in OTHERS and isinstance(value, dict):
            yield Part(value, part.base)


def _step(value: Json, token: str) -> Json:
    if isinstance(value, dict):
        return value.get(token)
    if isinstance(value, list) and token.isdecimal() and len(token) < 10 and int(token) < len(value):
        return value[int(token)]
    return None
