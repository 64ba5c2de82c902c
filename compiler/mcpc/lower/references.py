"""Schemas that refer to other files of the project get what they refer to: from here on each stands by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.schema.bundle import self_contained
from mcpc.schema.resources import Files

if TYPE_CHECKING:
    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.schema.resources import Remotes
    from mcpc.sources import Node

SCHEMAS = ("inputSchema", "outputSchema")


def bundled(definition: Definition) -> tuple[Definition, Diagnostics]:
    """Return a definition whose tools' schemas refer to nothing outside, and what keeps one from that."""
    files = Files((*definition.sources, *definition.beside))
    problems: list[Diagnostic] = []
    tools = tuple(replace(tool, node=_bundled(tool.node, files, problems)) for tool in definition.tools)
    return replace(definition, tools=tools), tuple(problems)


def _bundled(tool: Node, files: Remotes, problems: list[Diagnostic]) -> Node:
    changed: dict[Node, Node] = {}
    for key in SCHEMAS:
        schema = tool.get(key) if tool.kind == "object" else None
        if schema is not None and schema.kind == "object":
            whole, found = self_contained(schema, files)
            problems += found
            if whole is not schema:
                changed[schema] = whole
    if not changed:
        return tool
    members = tuple(replace(member, node=changed.get(member.node, member.node)) for member in tool.members)
    return replace(tool, members=members, value={member.key: member.node.value for member in members})
