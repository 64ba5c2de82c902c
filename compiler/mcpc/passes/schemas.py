"""Ask whether every schema compiles, and whether it may stand where it stands."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema import compile_of
from mcpc.schema.survey import OPENING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Schema, Server, Tool

ASK = 'arguments are always an object; write `"type": "object"`'
FEW = 100
"""Of more names none is looked for that is like another."""
SHOWN = "clients of revisions before 2026-07-28 will see neither this schema nor the structure of the result"


def schemas(server: Server) -> Diagnostics:
    """Report schemas that are wrong in themselves, input that is no object, output that old clients cannot be shown."""
    problems: list[Diagnostic] = []
    for tool in server.tools:
        problems += _root(tool.input, f"the input schema of `{tool.name}`", "MCP115", ASK)
        problems += compile_of(tool.input)[1]
        problems += _impossible(tool)
        if tool.output:
            problems += _root(tool.output, f"the output schema of `{tool.name}`", "MCP116", SHOWN)
            problems += compile_of(tool.output)[1]
    return tuple(problems)


def _root(schema: Schema, label: str, code: str, hint: str) -> Iterator[Diagnostic]:
    kind = schema.node.get("type")
    if kind is None:
        yield diagnose(code, schema.node.span, f"{label} has no `type`", '`"object"`', hint)
    elif kind.value != "object":
        yield diagnose(code, kind.span, f"{label} has the type {json.dumps(kind.value)}", '`"object"`', hint)


def _impossible(tool: Tool) -> Iterator[Diagnostic]:
    """Report arguments that a call must have, and may not: the schema does not name them, and takes no others."""
    root = {member.key: member.node for member in tool.input.node.members}
    more, required = root.get("additionalProperties"), root.get("required")
    takes_more = more.value is not False if more is not None else not tool.input.closed
    names_others = any(key in root for key in OPENING if key != "additionalProperties")
    if takes_more or names_others or required is None or not isinstance(required.value, list):
        return
    properties = root.get("properties")
    names = {member.key: None for member in properties.members} if properties is not None else {}
    for item in required.items:
        name = item.value
        if tool.input.decides and isinstance(name, str) and name not in names:
            near = get_close_matches(name, names, 1) if len(names) <= FEW else []
            hint = f"did you mean `{near[0]}`?" if near else f"name `{name}` in `properties`"
            message = f"`{name}` is required, but no call of `{tool.name}` may have it"
            yield diagnose("MCP156", item.span, message, "one of the `properties`", hint)
