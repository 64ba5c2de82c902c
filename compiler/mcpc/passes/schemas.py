"""Check that every schema compiles, and that it is allowed where it is used."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import did_you_mean
from mcpc.schema import compile_of
from mcpc.schema.analysis import OPENING
from mcpc.schema.compilation import MAX_PROBLEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Schema, Server, Tool

INPUT_HINT = 'arguments are always an object; write `"type": "object"`'
MAX_COMPARED = 100
"""With more names than this, no similar name is suggested."""
OUTPUT_HINT = "clients of revisions before 2026-07-28 will not see this schema or the structured result"


def check_schemas(server: Server) -> Diagnostics:
    """Report invalid schemas, input schemas of the wrong type, and output schemas that older clients reject."""
    problems: list[Diagnostic] = []
    for tool in server.tools:
        problems += _root(tool.input, f"the input schema of `{tool.name}`", "MCP115", INPUT_HINT)
        problems += compile_of(tool.input)[1]
        problems += islice(_impossible(tool), MAX_PROBLEMS)
        if tool.output:
            problems += _root(tool.output, f"the output schema of `{tool.name}`", "MCP116", OUTPUT_HINT)
            problems += compile_of(tool.output)[1]
    return tuple(problems)


def _root(schema: Schema, label: str, code: str, hint: str) -> Iterator[Diagnostic]:
    kind = schema.node.get("type")
    if kind is None:
        yield diagnose(code, schema.node.span, f"{label} has no `type`", '`"object"`', hint)
    elif kind.value != "object":
        yield diagnose(code, kind.span, f"{label} has the type {json.dumps(kind.value)}", '`"object"`', hint)


def _impossible(tool: Tool) -> Iterator[Diagnostic]:
    """Report required arguments that the schema neither names nor allows otherwise."""
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
            hint = did_you_mean(name, names if len(names) <= MAX_COMPARED else (), f"name `{name}` in `properties`")
            message = f"`{name}` is required, but `{tool.name}` does not allow it"
            yield diagnose("MCP156", item.span, message, "one of the `properties`", hint)
