"""Shapes of arrays and objects in constraints: which schema an item or a property has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.release.subsumption.nodes import SchemaNode


@dataclass(frozen=True, slots=True, eq=False)
class ArrayKeywords:
    """`prefixItems` and `items`."""

    prefix: tuple[SchemaNode, ...]
    items: SchemaNode | None

    def node_at(self, index: int) -> SchemaNode | None:
        """Return the schema of the item at an index; None if it has none."""
        return self.prefix[index] if index < len(self.prefix) else self.items


@dataclass(frozen=True, slots=True, eq=False)
class ObjectKeywords:
    """`properties`, `patternProperties` and `additionalProperties`."""

    properties: Mapping[str, SchemaNode]
    patterns: Mapping[str, SchemaNode]
    others: SchemaNode | None

    def nodes_for(self, name: str | None, matching: frozenset[str]) -> list[SchemaNode]:
        """Return the schemas of a property; `matching`: the patterns that its name matches; None: a new name."""
        found = [node for pattern, node in self.patterns.items() if pattern in matching]
        if name is not None and name in self.properties:
            found.append(self.properties[name])
        if not found and self.others is not None:
            return [self.others]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Somewhere:
    """A property whose value does not match `node`: its name matches a pattern, or none of the names and patterns."""

    matching: str | None
    other_names: tuple[str, ...]
    other_patterns: tuple[str, ...]
    node: SchemaNode
