"""Servers and feature files; each file is read once, however many servers use it.

servers.json   [{"name": "one", "path": "one", "features": ["f/a.json"]}]
f/a.json       {"tools": […], "resources": […], "prompts": […],
                "custom_tools": ["id"], "custom_resources": […], "custom_prompts": […]}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.frontends.blueprints.contents import (
    prompt_messages,
    renamed_members,
    resource_contents,
    start_span,
    tool_content,
)
from mcpc.model.definitions import HANDLER_KEY, PromptDefinition, ResourceDefinition, ToolDefinition
from mcpc.model.ir import ExternalHandler
from mcpc.reading import compact_json, parse_json
from mcpc.reading.json_tree import implied_member, object_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.frontends.blueprints.contents import KnowledgeBaseReader
    from mcpc.reading import Json, Node, Source

LISTS = ("tools", "resources", "prompts", "custom_tools", "custom_resources", "custom_prompts")
SERVER_FIELDS = ("name", "path", "features")
# Segments of unreserved characters (RFC 3986, section 2.3), which no client has to escape; or the empty path.
VALID_PATH = re.compile(r"(?:[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*)?")
RESERVED_PATHS = frozenset({"healthz", "readyz", "metrics", "sse", "messages", ".well-known"})
"""Paths that every HTTP server has besides its endpoints."""
LISTED_FIELDS = {"id": "name", "title": "title", "description": "description"}
LISTED_RESOURCE_FIELDS = {"uri": "uri", **LISTED_FIELDS, "mimeType": "mimeType"}
NO_ARGUMENTS: Json = {"type": "object", "properties": {}}
WITHOUT_VALIDATION: Json = {HANDLER_KEY: {"validate": False}}
"""Arguments are not validated in this format."""


@dataclass(frozen=True, slots=True)
class Feature:
    """The definitions of one feature file; `custom`: kinds and ids that Python functions implement."""

    tools: tuple[ToolDefinition, ...] = ()
    resources: tuple[ResourceDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    custom: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True)
class ListedServer:
    """One listed server: its name, the path of its endpoint, and its feature files."""

    name: str
    path: str
    features: tuple[str, ...]


def read_servers(reader: KnowledgeBaseReader) -> tuple[tuple[ListedServer, ...], dict[str, Feature]]:
    """Return the servers of a knowledge base, and all feature files that they use."""
    node, problems = parse_json(reader.base.servers)
    reader.problems.extend(problems)
    servers: list[ListedServer] = []
    known: dict[str, Feature] = {}
    paths: dict[str, Node] = {}
    if node is None or not reader.check_kind(node, "array", f"`{node.path}`"):
        return (), known
    for item in node.items:
        if reader.check_kind(item, "object", f"an item of `{node.path}`"):
            servers += [] if (one := _server(reader, item, known, paths)) is None else [one]
    if not node.items:
        reader.report("MCP279", node.span, f"`{node.path}` lists no server")
    return tuple(servers), known


def _server(
    reader: KnowledgeBaseReader, node: Node, known: dict[str, Feature], paths: dict[str, Node]
) -> ListedServer | None:
    name = reader.required_text(node, "name", "a server")
    label = f"the server `{name}`" if name else "a server"
    path = reader.required_member(node, "path", "string", label)
    features = reader.required_member(node, "features", "array", label)
    reader.report_unknown_members(node, SERVER_FIELDS, label)
    if features is None:
        return None
    files = _features(reader, features, label, known)
    if not features.items:
        reader.report("MCP279", features.span, f"{label} has no features")
    if name is None or path is None:
        return None
    _check_path(reader, path, label, paths)
    return ListedServer(name, str(path.value).strip("/"), files)


def _check_path(reader: KnowledgeBaseReader, path: Node, label: str, paths: dict[str, Node]) -> None:
    """Report a path that cannot be an endpoint, or is used twice."""
    written = str(path.value).strip("/")
    segments = written.split("/")
    first = paths.setdefault(written, path)
    if VALID_PATH.fullmatch(written) is None or "." in segments or ".." in segments:
        expected = "letters, digits and `.` `_` `~` `-`, in parts between `/`"
        reader.report("MCP275", path.span, f"invalid path `{path.value}` of {label}", expected)
    elif segments[0] in RESERVED_PATHS:
        reader.report("MCP275", path.span, f"the path `{path.value}` is reserved")
    elif first is not path:
        line = reader.base.servers.position(first.start)[0]
        reader.report("MCP275", path.span, f"two servers have the path `{written}`", "", f"the first is on line {line}")


def _features(reader: KnowledgeBaseReader, listed: Node, label: str, known: dict[str, Feature]) -> tuple[str, ...]:
    """Return the feature files of a server, each once; new ones are added to `known`."""
    paths: dict[str, None] = {}
    for item in listed.items:
        if not reader.check_kind(item, "string", f"a feature of {label}"):
            continue
        source, problems = reader.base.find_file(item, f"a feature file of {label}")
        reader.problems.extend(problems)
        if source is None:
            continue
        if source.path in paths:
            reader.report("MCP279", item.span, f"{label} has the feature file `{item.value}` twice", "", "remove one")
        elif source.path not in known:
            known[source.path] = _feature(reader, source)
        paths[source.path] = None
    return tuple(paths)


def _feature(reader: KnowledgeBaseReader, source: Source) -> Feature:
    node, problems = parse_json(source)
    reader.problems.extend(problems)
    label = f"`{source.path}`"
    if node is None or not reader.check_kind(node, "object", label):
        return Feature()
    missing = [f"`{key}`" for key in LISTS if node.get(key) is None]
    if missing:
        reader.report("MCP273", start_span(node), f"{label} lacks {', '.join(missing)}", "", "add an empty array")
    reader.report_unknown_members(node, LISTS, label)
    tools = (_tool(reader, item) for item in reader.optional_objects(node, "tools", label))
    resources = (_resource(reader, item) for item in reader.optional_objects(node, "resources", label))
    prompts = (_prompt(reader, item) for item in reader.optional_objects(node, "prompts", label))
    return Feature(
        tools=tuple(tool for tool in tools if tool is not None),
        resources=tuple(resource for resource in resources if resource is not None),
        prompts=tuple(prompt for prompt in prompts if prompt is not None),
        custom=tuple(_custom(reader, node, label)),
    )


def _custom(reader: KnowledgeBaseReader, node: Node, label: str) -> Iterator[tuple[str, Node]]:
    for key in LISTS[3:]:
        listed = node.get(key)
        if listed is not None and reader.check_kind(listed, "array", f"`{key}` of {label}"):
            kind = key.removeprefix("custom_").removesuffix("s")
            yield from ((kind, item) for item in listed.items if reader.check_kind(item, "string", f"an id in `{key}`"))


def _tool(reader: KnowledgeBaseReader, node: Node) -> ToolDefinition | None:
    identifier, label = _identifier(reader, node, "tool")
    reader.report_unknown_members(node, (*LISTED_FIELDS, "content"), label)
    content = tool_content(reader, node, label)
    if identifier is None:
        return None
    implied = {"inputSchema": NO_ARGUMENTS, "_meta": WITHOUT_VALIDATION}
    more = (implied_member(key, value, start_span(node)) for key, value in implied.items())
    handler = ExternalHandler(node.path, identifier.span, "known", (compact_json(content),))
    return ToolDefinition(object_node((*renamed_members(node, LISTED_FIELDS), *more), node.span), handler=handler)


def _prompt(reader: KnowledgeBaseReader, node: Node) -> PromptDefinition | None:
    identifier, label = _identifier(reader, node, "prompt")
    reader.report_unknown_members(node, (*LISTED_FIELDS, "messages"), label)
    messages = prompt_messages(reader, node, label)
    if identifier is None:
        return None
    handler = ExternalHandler(node.path, identifier.span, "known", (compact_json(messages),))
    return PromptDefinition(object_node(renamed_members(node, LISTED_FIELDS), node.span), handler=handler)


def _resource(reader: KnowledgeBaseReader, node: Node) -> ResourceDefinition | None:
    identifier, label = _identifier(reader, node, "resource")
    uri = node.get("uri")
    if uri is None:
        message = f"{label} has no `uri`, and is left out: clients cannot request it"
        reader.report("MCP276", start_span(node), message, "", 'give it one, such as `"uri": "docs://guide"`')
        return None
    reader.report_unknown_members(node, (*LISTED_RESOURCE_FIELDS, "content"), label)
    if identifier is None or not reader.check_kind(uri, "string", f"`uri` of {label}"):
        return None
    contents = resource_contents(reader, node, uri, label)
    handler = ExternalHandler(node.path, identifier.span, "static", (compact_json(contents),))
    return ResourceDefinition(object_node(renamed_members(node, LISTED_RESOURCE_FIELDS), node.span), handler=handler)


def _identifier(reader: KnowledgeBaseReader, node: Node, kind: str) -> tuple[Node | None, str]:
    """Return the id of a definition, and its label for messages."""
    identifier = reader.required_member(node, "id", "string", f"a {kind}")
    return identifier, f"the {kind} `{identifier.value}`" if identifier is not None else f"a {kind}"
