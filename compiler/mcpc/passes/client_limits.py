"""What of a server's tools well-known clients refuse, or leave out, though the protocol allows it.

One table: a limit has its clients, and a public report of what happens.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema.dialects import DRAFT_2020_12
from mcpc.schema.subschemas import PLAIN, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server, Tool
    from mcpc.reading import Node

PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
NUMBER_FORMATS = ("double", "float", "int32", "int64", "uint32", "uint64")
COMBINATORS = ("allOf", "anyOf", "oneOf")
CURSOR_NAME, VS_CODE_TOOLS, CLAUDE_CODE_TOKENS = 60, 128, 25_000
BYTES_PER_TOKEN = 4
LONG_NAME = 64
"""Longer names are reported as such (MCP106)."""


@dataclass(frozen=True, slots=True)
class ClientLimit:
    """What `find` finds in a schema: `message` says what that is and what a client does, `source` is a report of it."""

    find: Callable[[Node], Iterator[Node]]
    message: str
    hint: str
    source: str


def arrays_without_items(schema: Node) -> Iterator[Node]:
    """Yield the types of lists that do not say what is in them."""
    kind = schema.get("type")
    types = kind.value if kind is not None and isinstance(kind.value, list) else [kind.value if kind else None]
    if kind is not None and "array" in types and not (schema.get("items") or schema.get("prefixItems")):
        yield kind


def unions_in_items(schema: Node) -> Iterator[Node]:
    """Yield lists of types of what is in a list."""
    items = schema.get("items")
    kind = items.get("type") if items is not None else None
    if kind is not None and kind.kind == "array":
        yield kind


def boolean_schemas(schema: Node) -> Iterator[Node]:
    """Yield properties and items whose schema is `true`."""
    properties, items = schema.get("properties"), schema.get("items")
    inside = [member.node for member in properties.members] if properties is not None else []
    yield from (node for node in (*inside, *([items] if items is not None else ())) if node.value is True)


def number_formats(schema: Node) -> Iterator[Node]:
    """Yield formats of numbers, as API documents have them."""
    form = schema.get("format")
    if form is not None and form.value in NUMBER_FORMATS:
        yield form


def odd_properties(schema: Node) -> Iterator[Node]:
    """Yield properties whose names have other characters."""
    properties = schema.get("properties")
    for member in properties.members if properties is not None and properties.kind == "object" else ():
        if not PROPERTY.fullmatch(member.key):
            yield member.node


INPUTS = (
    ClientLimit(
        arrays_without_items,
        "a list without `items`: VS Code does not offer the tool",
        "say what is in the list, or `{}` for anything",
        "https://github.com/microsoft/vscode/issues/246119",
    ),
    ClientLimit(
        unions_in_items,
        "a list of types in `items`: with Gemini, Copilot CLI fails in every request",
        "name one type, or use `anyOf`",
        "https://github.com/github/copilot-cli/issues/4623",
    ),
    ClientLimit(
        boolean_schemas,
        "the schema `true`: with Gemini, Copilot CLI fails in every request",
        "`{}` means the same",
        "https://github.com/github/copilot-cli/issues/4623",
    ),
    ClientLimit(
        number_formats,
        "a format of API documents: Gemini CLI does not offer the tool",
        "leave it out, or name bounds: `minimum`, `maximum`",
        "https://github.com/google-gemini/gemini-cli/issues/6948",
    ),
    ClientLimit(
        odd_properties,
        "an argument named with other characters: Claude refuses every request with the tool",
        "1 to 64 of `A-Z a-z 0-9 _ . -`",
        "https://github.com/ComposioHQ/composio/issues/2330",
    ),
)
"""Limits of subschemas of arguments."""
ROOT = ClientLimit(
    lambda schema: (node for name in COMBINATORS if (node := schema.get(name)) is not None),
    "`anyOf`, `oneOf` or `allOf` beside the arguments: Claude refuses every request with the tool",
    "put it into an argument, or check it in the handler",
    "https://github.com/anthropics/claude-code/issues/5973",
)
OUTPUT = ClientLimit(
    lambda schema: (
        node
        for node in (schema.get("$schema"),)
        if node is not None and str(node.value).removesuffix("#") != DRAFT_2020_12.uri
    ),
    "an output schema of an earlier draft: Claude Desktop does not offer the tool",
    "leave `$schema` out, if nothing in it is of that draft only",
    "https://github.com/shashankswe2020-ux/whoop-mcp/issues/251",
)


def check_client_limits(server: Server) -> Diagnostics:
    """Report what some clients refuse, once a tool for each limit.  O(bytes of the schemas)."""
    return (
        *(problem for tool in server.tools for problem in _tool_problems(tool)),
        *_long_names(server),
        *_long_list(server),
    )


def _tool_problems(tool: Tool) -> Iterator[Diagnostic]:
    search = SubschemaCollector(tool.input.node, PLAIN)
    search.run()
    objects = sorted((node for node in search.schemas if node.kind == "object"), key=lambda node: node.span)
    for limit in INPUTS:
        yield from _problem(tool, limit, [place for node in objects for place in limit.find(node)])
    yield from _problem(tool, ROOT, [*ROOT.find(tool.input.node)])
    if tool.output:
        yield from _problem(tool, OUTPUT, [*OUTPUT.find(tool.output.node)])


def _problem(tool: Tool, limit: ClientLimit, places: list[Node]) -> Iterator[Diagnostic]:
    if places:
        more = f" (in {len(places)} places)" if len(places) > 1 else ""
        yield diagnose("MCP161", places[0].span, f"`{tool.name}` has {limit.message}{more}", "", limit.hint)


def _long_names(server: Server) -> Iterator[Diagnostic]:
    for tool in server.tools:
        length = len(server.name) + len(tool.name) + 1
        if length > CURSOR_NAME and len(tool.name) <= LONG_NAME:
            message = (
                f"`{tool.name}` and the name of the server have {length} characters: Cursor does not offer the tool"
            )
            yield diagnose("MCP161", tool.span, message, "", f"at most {CURSOR_NAME} together with a separator")


def _long_list(server: Server) -> Iterator[Diagnostic]:
    if len(server.tools) > VS_CODE_TOOLS:
        message = f"the server has {len(server.tools)} tools: VS Code sends at most {VS_CODE_TOOLS} of all servers"
        yield diagnose("MCP161", server.node.span, message, "", "offer fewer, or say which may be left out")
    sizes = (len(json.dumps([tool.name, tool.metadata.description, tool.input.value])) for tool in server.tools)
    tokens = sum(sizes) // BYTES_PER_TOKEN
    if tokens > CLAUDE_CODE_TOKENS:
        message = f"the list of tools has about {tokens} tokens: Claude Code warns of more than {CLAUDE_CODE_TOKENS}"
        yield diagnose("MCP161", server.node.span, message, "", "shorten descriptions, or offer fewer tools")
