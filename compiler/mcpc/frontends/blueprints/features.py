"""Servers and feature files: each file is read once, however many servers have it.

servers.json   [{"name": "one", "path": "one", "features": ["f/a.json"]}]
f/a.json       {"tools": […], "resources": […], "prompts": […],
                "custom_tools": ["id"], "custom_resources": […], "custom_prompts": […]}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from mcpc.definitions.handling import HANDLER
from mcpc.frontends.blueprints.base import start
from mcpc.frontends.blueprints.contents import messages, resource_contents, tool_content
from mcpc.frontends.blueprints.reading import assembled, compact, renamed, said
from mcpc.ir import Foreign
from mcpc.sources import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.frontends.blueprints.reading import Reading
    from mcpc.sources import Json, Node, Source

LISTS = ("tools", "resources", "prompts", "custom_tools", "custom_resources", "custom_prompts")
SERVER_FIELDS = ("name", "path", "features")
SEGMENTS = re.compile(r"(?:[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*)?")
OTHERS = frozenset({"healthz", "readyz", "metrics", "sse", "messages", ".well-known"})
"""What every server that serves over HTTP has beside its endpoints."""
SHOWN = {"id": "name", "title": "title", "description": "description"}
RESOURCE_SHOWN = {"uri": "uri", **SHOWN, "mimeType": "mimeType"}
NO_ARGUMENTS: Json = {"type": "object", "properties": {}}
AS_IT_COMES: Json = {HANDLER: {"validate": False}}
"""Nothing a caller sends was ever looked at."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What one feature file defines; `custom` are the ids that are implemented elsewhere, by the kind."""

    tools: tuple[ToolDefinition, ...] = ()
    resources: tuple[ResourceDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    custom: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """One server of the list: its name, the path of its endpoint, and the files of its features."""

    name: str
    path: str
    features: tuple[str, ...]


def servers(reading: Reading) -> tuple[tuple[Listed, ...], dict[str, Feature]]:
    """Return the servers of a knowledge base, and every feature file that one of them has."""
    node, problems = parse_json(reading.base.servers)
    reading.problems.extend(problems)
    found: list[Listed] = []
    known: dict[str, Feature] = {}
    paths: dict[str, Node] = {}
    if node is None or not reading.is_a(node, "array", f"`{node.path}`"):
        return (), known
    for item in node.items:
        if reading.is_a(item, "object", f"an item of `{node.path}`"):
            found += [] if (one := _server(reading, item, known, paths)) is None else [one]
    if not node.items:
        reading.report("MCP279", node.span, f"`{node.path}` lists no server")
    return tuple(found), known


def _server(reading: Reading, node: Node, known: dict[str, Feature], paths: dict[str, Node]) -> Listed | None:
    name = reading.text(node, "name", "a server")
    label = f"the server `{name}`" if name else "a server"
    path = reading.part(node, "path", "string", label)
    features = reading.part(node, "features", "array", label)
    reading.strangers(node, SERVER_FIELDS, label)
    if features is None:
        return None
    files = _features(reading, features, label, known)
    if not features.items:
        reading.report("MCP279", features.span, f"{label} has no features")
    if name is None or path is None:
        return None
    _judge_path(reading, path, label, paths)
    return Listed(name, str(path.value).strip("/"), files)


def _judge_path(reading: Reading, path: Node, label: str, paths: dict[str, Node]) -> None:
    """Report a path that is no endpoint's, or is another's."""
    written = str(path.value).strip("/")
    segments = written.split("/")
    first = paths.setdefault(written, path)
    if SEGMENTS.fullmatch(written) is None or "." in segments or ".." in segments:
        expected = "letters, digits and `.` `_` `~` `-`, in parts between `/`"
        reading.report("MCP275", path.span, f"`{path.value}` cannot be the path of {label}", expected)
    elif segments[0] in OTHERS:
        reading.report("MCP275", path.span, f"`{path.value}` is a path that no server can have for itself")
    elif first is not path:
        line = reading.base.servers.position(first.start)[0]
        reading.report(
            "MCP275", path.span, f"two servers have the path `{written}`", "", f"the first is in line {line}"
        )


def _features(reading: Reading, listed: Node, label: str, known: dict[str, Feature]) -> tuple[str, ...]:
    """Return the feature files of a server, each once; those that are new become known."""
    found: dict[str, None] = {}
    for item in listed.items:
        if not reading.is_a(item, "string", f"a feature of {label}"):
            continue
        source, problems = reading.base.found(item, f"a feature file of {label}")
        reading.problems.extend(problems)
        if source is None:
            continue
        if source.path in found:
            reading.report("MCP279", item.span, f"{label} has the feature file `{item.value}` twice", "", "remove one")
        elif source.path not in known:
            known[source.path] = _feature(reading, source)
        found[source.path] = None
    return tuple(found)


def _feature(reading: Reading, source: Source) -> Feature:
    node, problems = parse_json(source)
    reading.problems.extend(problems)
    label = f"`{source.path}`"
    if node is None or not reading.is_a(node, "object", label):
        return Feature()
    missing = [f"`{key}`" for key in LISTS if node.get(key) is None]
    if missing:
        reading.report("MCP273", start(node), f"{label} lacks {', '.join(missing)}", "", "an empty array says the same")
    reading.strangers(node, LISTS, label)
    tools = (_tool(reading, item) for item in reading.objects(node, "tools", label))
    resources = (_resource(reading, item) for item in reading.objects(node, "resources", label))
    prompts = (_prompt(reading, item) for item in reading.objects(node, "prompts", label))
    return Feature(
        tools=tuple(one for one in tools if one is not None),
        resources=tuple(one for one in resources if one is not None),
        prompts=tuple(one for one in prompts if one is not None),
        custom=tuple(_custom(reading, node, label)),
    )


def _custom(reading: Reading, node: Node, label: str) -> Iterator[tuple[str, Node]]:
    for key in LISTS[3:]:
        listed = node.get(key)
        if listed is not None and reading.is_a(listed, "array", f"`{key}` of {label}"):
            kind = key.removeprefix("custom_").removesuffix("s")
            yield from ((kind, item) for item in listed.items if reading.is_a(item, "string", f"an id in `{key}`"))


def _tool(reading: Reading, node: Node) -> ToolDefinition | None:
    identifier, label = _identifier(reading, node, "tool")
    reading.strangers(node, (*SHOWN, "content"), label)
    content = tool_content(reading, node, label)
    if identifier is None:
        return None
    more = (said("inputSchema", NO_ARGUMENTS, node), said("_meta", AS_IT_COMES, node))
    handler = Foreign(node.path, identifier.span, "known", (compact(content),))
    return ToolDefinition(assembled(node, (*renamed(node, SHOWN), *more)), handler=handler)


def _prompt(reading: Reading, node: Node) -> PromptDefinition | None:
    identifier, label = _identifier(reading, node, "prompt")
    reading.strangers(node, (*SHOWN, "messages"), label)
    found = messages(reading, node, label)
    if identifier is None:
        return None
    handler = Foreign(node.path, identifier.span, "known", (compact(found),))
    return PromptDefinition(assembled(node, renamed(node, SHOWN)), handler=handler)


def _resource(reading: Reading, node: Node) -> ResourceDefinition | None:
    identifier, label = _identifier(reading, node, "resource")
    uri = node.get("uri")
    if uri is None:
        message = f"{label} has no `uri`, and is left out: nobody could ask for it"
        reading.report("MCP276", start(node), message, "", 'give it one, such as `"uri": "docs://guide"`')
        return None
    reading.strangers(node, (*RESOURCE_SHOWN, "content"), label)
    if identifier is None or not reading.is_a(uri, "string", f"`uri` of {label}"):
        return None
    contents = resource_contents(reading, node, uri, label)
    handler = Foreign(node.path, identifier.span, "static", (compact(contents),))
    return ResourceDefinition(assembled(node, renamed(node, RESOURCE_SHOWN)), handler=handler)


def _identifier(reading: Reading, node: Node, kind: str) -> tuple[Node | None, str]:
    """Return the id of a definition, and how messages call it."""
    found = reading.part(node, "id", "string", f"a {kind}")
    return found, f"the {kind} `{found.value}`" if found is not None else f"a {kind}"
