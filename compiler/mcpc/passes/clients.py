"""What clients can do with a server: what they refuse of its tools, headers of calls, capabilities, user interfaces.

One table of limits: a limit has its clients, and a public report of what happens. Clients ignore a tool if one of its
headers (`x-mcp-header`) is invalid, so that all problems of headers are errors. A client that relies on a missing
capability waits forever, so it is not announced; its author is warned. A user interface is

tool       {"_meta": {"ui": {"resourceUri": "ui://chart", "visibility": ["model", "app"]}}}
resource   {"uri": "ui://chart", "mimeType": "text/html;profile=mcp-app", "_meta": {"ui": {"csp": {…}}}}
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import counted, did_you_mean, quoted
from mcpc.model.definitions import APP, APP_SCHEME
from mcpc.schema import compile_of
from mcpc.schema.dialects import DRAFT_2020_12
from mcpc.schema.subschemas import PLAIN, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Capability, Located, Resource, Schema, Server, Tool, UserInterface
    from mcpc.reading import Node

PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
NUMBER_FORMATS = ("double", "float", "int32", "int64", "uint32", "uint64")
COMBINATORS = ("allOf", "anyOf", "oneOf")
CURSOR_NAME, VS_CODE_TOOLS, CLAUDE_CODE_TOKENS = 60, 128, 25_000
# An estimate: models count differently.
BYTES_PER_TOKEN = 4
FEW_TOOLS = 40
LESS_OF_API = 'choose some by `include` in `apis/NAME.toml`, or write `expose = "search"` there'
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
    rows: dict[str, list[tuple[Tool, ClientLimit, list[Node]]]] = {}
    for tool in server.listed_tools:
        for limit, places in _refused_parts(tool):
            rows.setdefault(limit.message, []).append((tool, limit, places))
    return (
        *(problem for refused in rows.values() for problem in _problems(refused)),
        *_long_names(server),
        *_long_list(server),
    )


FEW = 3
"""Of more tools with one fault the first is reported, and how many there are."""


def _refused_parts(tool: Tool) -> Iterator[tuple[ClientLimit, list[Node]]]:
    """Yield what clients refuse of a tool, each with its places."""
    search = SubschemaCollector(tool.input.node, PLAIN)
    search.run()
    objects = sorted((node for node in search.schemas if node.kind == "object"), key=lambda node: node.span)
    parts = [(limit, [place for node in objects for place in limit.find(node)]) for limit in INPUTS]
    parts.append((ROOT, [*ROOT.find(tool.input.node)]))
    if tool.output:
        parts.append((OUTPUT, [*OUTPUT.find(tool.output.node)]))
    yield from ((limit, places) for limit, places in parts if places)


def _problems(refused: list[tuple[Tool, ClientLimit, list[Node]]]) -> Iterator[Diagnostic]:
    """Yield the tools that have one fault; of very many only the first."""
    for tool, limit, places in refused if len(refused) <= FEW else refused[:1]:
        others = f" and {len(refused) - 1} other tools have" if len(refused) > FEW else " has"
        more = f" (in {len(places)} places)" if len(places) > 1 and len(refused) <= FEW else ""
        yield diagnose("MCP161", places[0].span, f"`{tool.name}`{others} {limit.message}{more}", "", limit.hint)


def _long_names(server: Server) -> Iterator[Diagnostic]:
    lengths = ((tool, len(server.name) + len(tool.name) + 1) for tool in server.listed_tools)
    long = [(tool, length) for tool, length in lengths if length > CURSOR_NAME and len(tool.name) <= LONG_NAME]
    for tool, length in long if len(long) <= FEW else long[:1]:
        others = f", as those of {len(long) - 1} other tools" if len(long) > FEW else ""
        message = (
            f"`{tool.name}` and the name of the server have {length} characters{others}: Cursor does not offer the tool"
        )
        yield diagnose("MCP161", tool.span, message, "", f"at most {CURSOR_NAME} together with a separator")


def _long_list(server: Server) -> Iterator[Diagnostic]:
    tools = server.listed_tools
    sizes = (len(json.dumps([tool.name, tool.metadata.description, tool.input.listed])) for tool in tools)
    tokens = sum(sizes) // BYTES_PER_TOKEN
    if server.is_of_document and (len(tools) > FEW_TOOLS or tokens > CLAUDE_CODE_TOKENS):
        message = f"the list has {counted(len(tools), 'tool')}, about {tokens:,} tokens"
        expected = f"at most {FEW_TOOLS} tools and {CLAUDE_CODE_TOKENS:,} tokens, among which models choose well"
        yield diagnose("MCP175", server.node.span, message, expected, LESS_OF_API)
        return
    if len(tools) > VS_CODE_TOOLS:
        message = f"the server has {len(tools)} tools: VS Code sends at most {VS_CODE_TOOLS} of all servers"
        yield diagnose("MCP161", server.node.span, message, "", "offer fewer, or say which may be left out")
    if tokens > CLAUDE_CODE_TOKENS:
        message = f"the list of tools has about {tokens} tokens: Claude Code warns of more than {CLAUDE_CODE_TOKENS}"
        yield diagnose("MCP161", server.node.span, message, "", "shorten descriptions, or offer fewer tools")


KEYWORD = "x-mcp-header"
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
TYPES = ("string", "integer", "boolean")
# Up to this number a double has every integer.
SAFE = (1 << 53) - 1
BOUNDS = ("default", "const", "enum", "minimum", "maximum", "examples")
ALLOWED = "letters, digits and ``!#$%&'*+.^_`|~-``"


def check_headers(server: Server) -> Diagnostics:
    """Report arguments that cannot be sent as headers."""
    problems: list[Diagnostic] = []
    for tool in server.tools:
        for schema in filter(None, (tool.input, tool.output)):
            # Most schemas have none, and a text is searched faster than subschemas.
            if f'"{KEYWORD}"' in json.dumps(schema.value) and compile_of(schema)[0] is not None:
                is_input = schema is tool.input
                problems += _check_schema(schema, set(_reachable(schema.node)) if is_input else set())
    return tuple(problems)


def _reachable(schema: Node) -> Iterator[Node]:
    """Yield the schemas of arguments: those reached only through `properties`."""
    waiting = [schema]
    for part in waiting:  # grows during the loop
        properties = part.get("properties") if part.kind == "object" else None
        inside = [member.node for member in properties.members] if properties is not None else []
        waiting += inside
        yield from inside


def _check_schema(schema: Schema, reachable: set[Node]) -> Iterator[Diagnostic]:
    search = SubschemaCollector(schema.node, PLAIN)
    search.run()
    names: set[str] = set()
    headers = ((node, node.get(KEYWORD)) for node in search.schemas if node.kind == "object")
    for node, header in sorted(((node, header) for node, header in headers if header), key=lambda row: row[1].span):
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
        # A list of values, or a single one.
        for value in () if written is None else written.items or (written,):
            number = value.value
            if isinstance(number, int | float) and abs(number) > SAFE:
                message = f"the header `{header.value}` may have the value {number}"
                yield diagnose("MCP127", value.span, message, "an integer within ±(2^53 - 1)")


LISTS = ("tools", "prompts", "resources", "completions")
SERVED_CAPABILITIES = ("logging", "experimental")

HINTS = {
    "extensions": "extensions are announced automatically; remove it",
    "tasks": "tasks are an extension now, announced when a tool's handler says `task`; remove it",
    "elicitation": "clients declare it, servers do not; remove it",
    "roots": "clients declare it, servers do not; remove it",
    "sampling": "clients declare it, servers do not; remove it",
}


def check_capabilities(server: Server) -> Diagnostics:
    """Report declared capabilities and notifications that the server does not implement."""
    problems: list[Diagnostic] = []
    for declared in server.capabilities:
        problems += _list(declared, server) if declared.name in LISTS else _other(declared)
    return tuple(problems)


def _list(declared: Capability, server: Server) -> Iterator[Diagnostic]:
    listed = {
        "tools": bool(server.tools),
        "prompts": bool(server.prompts),
        "resources": server.has_resources,
        "completions": server.completes,
    }
    # A server without definitions is refused anyway; the warning would only repeat it.
    if any(listed.values()) and not listed[declared.name]:
        yield diagnose("MCP302", declared.span, f"`{declared.name}` is declared, but there are none", "", "remove it")
    elif declared.list_changed and declared.name not in server.changes:
        message = f"the list of {declared.name} never changes, but `listChanged` is true"
        yield diagnose(
            "MCP302", declared.list_changed_span, message, "", "no handler reports changes (`list_changed`); remove it"
        )


def _other(declared: Capability) -> Iterator[Diagnostic]:
    if declared.name not in SERVED_CAPABILITIES:
        hint = HINTS.get(declared.name, "remove it")
        yield diagnose("MCP302", declared.span, f"this server will not have `{declared.name}`", "", hint)


OF_TOOL = ("resourceUri", "visibility")
OF_RESOURCE = ("csp", "permissions", "domain", "prefersBorder")
VISIBLE_TO = ("model", "app")


def check_apps(server: Server) -> Diagnostics:
    """Report user interfaces that are missing, or that hosts would not display."""
    resources = {resource.uri: resource for resource in server.resources}
    problems: list[Diagnostic] = []
    for tool in server.tools:
        if tool.interface is not None:
            problems += _of_tool(tool.interface, resources)
    for resource in server.resources:
        if resource.uri.startswith(APP_SCHEME):
            problems += _of_resource(resource)
    return tuple(problems)


def _of_tool(said: UserInterface, resources: dict[str, Resource]) -> Iterator[Diagnostic]:
    if not said.is_object:
        yield diagnose("MCP101", said.span, "`_meta.ui` of a tool must be an object", '`{"resourceUri": "ui://…"}`')
    yield from _unknown_values(said, OF_TOOL)
    for uri in said.uris:
        yield from _named(uri, resources)
    for item in said.visibility:
        if item.value not in VISIBLE_TO:
            yield diagnose("MCP139", item.span, f"unknown visibility `{item.value}`", "`model` or `app`")


def _named(uri: Located, resources: dict[str, Resource]) -> Iterator[Diagnostic]:
    if not isinstance(uri.value, str) or not uri.value.startswith(APP_SCHEME):
        yield diagnose("MCP138", uri.span, f"`{uri.value}` is not the URI of a user interface", f"`{APP_SCHEME}…`")
    elif uri.value not in resources:
        added = f'add `{{"uri": "{uri.value}", "file": …}}` to `resources.json`'
        hint = did_you_mean(uri.value, resources, added)
        yield diagnose("MCP137", uri.span, f"no resource has the URI `{uri.value}`", "", hint)


def _of_resource(resource: Resource) -> Iterator[Diagnostic]:
    if resource.mime != APP:
        span = resource.node.span_of("mimeType")
        yield diagnose("MCP138", span, f"unsupported user interface type `{resource.mime}`", f"`{APP}`", "leave it out")
    if resource.interface is not None:
        yield from _unknown_values(resource.interface, OF_RESOURCE)


def _unknown_values(said: UserInterface, known: tuple[str, ...]) -> Iterator[Diagnostic]:
    for key in said.keys:
        if key.value not in known:
            hint = did_you_mean(str(key.value), known)
            yield diagnose("MCP139", key.span, f"unknown key `{key.value}`", f"one of {quoted(known)}", hint)
