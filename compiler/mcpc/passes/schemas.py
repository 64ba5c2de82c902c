"""Ask whether every schema compiles, and whether it may stand where it stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema import compile_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Schema, Server

ASK = 'arguments are always an object; write `"type": "object"`'
SHOWN = "clients of revisions before 2026-07-28 will see neither this schema nor the structure of the result"


def schemas(server: Server) -> Diagnostics:
    """Report schemas that are wrong in themselves, input that is no object, output that old clients cannot be shown."""
    problems: list[Diagnostic] = []
    for tool in server.tools:
        problems += _root(tool.input, f"the input schema of `{tool.name}`", "MCP115", ASK)
        problems += compile_of(tool.input)[1]
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
