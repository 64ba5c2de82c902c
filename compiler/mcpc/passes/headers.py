"""Check that HTTP clients can send the arguments that they repeat as headers (`x-mcp-header`).

Clients ignore a tool if one of its headers is invalid, so that all problems are errors.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema import compile_of
from mcpc.schema.subschemas import PLAIN, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Schema, Server
    from mcpc.reading import Node

KEYWORD = "x-mcp-header"
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
TYPES = ("string", "integer", "boolean")
SAFE = (1 << 53) - 1
BOUNDS = ("default", "const", "enum", "minimum", "maximum", "examples")
ALLOWED = "letters, digits and ``!#$%&'*+.^_`|~-``"


def check_headers(server: Server) -> Diagnostics:
    """Report arguments that cannot be sent as headers."""
    problems: list[Diagnostic] = []
    for tool in server.tools:
        for schema in filter(None, (tool.input, tool.output)):
            if f'"{KEYWORD}"' in json.dumps(schema.value) and compile_of(schema)[0] is not None:
                is_input = schema is tool.input
                problems += _check_schema(schema, set(_reachable(schema.node)) if is_input else set())
    return tuple(problems)


def _reachable(schema: Node) -> Iterator[Node]:
    """Yield the schemas of arguments: those reached only through `properties`."""
    waiting = [schema]
    for found in waiting:  # grows during the loop
        properties = found.get("properties") if found.kind == "object" else None
        inside = [member.node for member in properties.members] if properties is not None else []
        waiting += inside
        yield from inside


def _check_schema(schema: Schema, reachable: set[Node]) -> Iterator[Diagnostic]:
    search = SubschemaCollector(schema.node, PLAIN)
    search.run()
    names: set[str] = set()
    found = ((node, node.get(KEYWORD)) for node in search.schemas if node.kind == "object")
    for node, header in sorted(((node, header) for node, header in found if header), key=lambda row: row[1].span):
        name = header.value
        if node not in reachable:
            hint = "only arguments, and properties nested in them through `properties`, can be headers"
            yield diagnose("MCP127", header.span, f"`{KEYWORD}` has no effect here", "", hint)
        elif not isinstance(name, str) or not TOKEN.fullmatch(name):
            yield diagnose("MCP127", header.span, f"invalid header name {json.dumps(name)}", ALLOWED)
        elif name.lower() in names:
            message = f"two arguments use the header `{name}`"
            yield diagnose("MCP127", header.span, message, "", "header names are case-insensitive")
        else:
            names.add(name.lower())
            yield from _unfit(node, header)


def _unfit(node: Node, header: Node) -> Iterator[Diagnostic]:
    """Yield the reasons why a value cannot be sent in a header."""
    kind = node.get("type")
    if kind is None or kind.value not in TYPES:
        expected = " or ".join(f'`"type": "{name}"`' for name in TYPES)
        yield diagnose(
            "MCP127", (kind or header).span, f"the header `{header.value}` has a value of another type", expected
        )
    for keyword in BOUNDS:
        written = node.get(keyword)
        for value in () if written is None else written.items or (written,):
            number = value.value
            if isinstance(number, int | float) and abs(number) > SAFE:
                message = f"the header `{header.value}` may have the value {number}"
                yield diagnose("MCP127", value.span, message, "an integer within ±(2^53 - 1)")
