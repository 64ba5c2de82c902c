"""Bundle schemas that refer to other files of the project, so that each is self-contained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.schema.bundle import self_contained
from mcpc.schema.resources import Files

if TYPE_CHECKING:
    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics

SCHEMAS = ("inputSchema", "outputSchema")


def bundle_references(definition: Definition) -> tuple[Definition, Diagnostics]:
    """Return the definition with self-contained tool schemas, and the problems of unresolved references."""
    files = Files((*definition.sources, *definition.beside))
    problems: list[Diagnostic] = []
    tools = []
    for tool in definition.tools:
        node, changed = tool.node, {}
        for schema in (node.get(key) for key in SCHEMAS):
            if schema is not None and schema.kind == "object":
                whole, found = self_contained(schema, files)
                problems += found
                if whole is not schema:
                    changed[schema] = whole
        if changed:
            members = tuple(replace(member, node=changed.get(member.node, member.node)) for member in node.members)
            node = replace(node, members=members, value={member.key: member.node.value for member in members})
        tools.append(replace(tool, node=node))
    return replace(definition, tools=tuple(tools)), tuple(problems)
