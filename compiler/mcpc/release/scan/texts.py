"""All texts of a server, with the role of each, and where a hit is in the files of a project or of a client.

Nothing is left out: a model reads the whole of a schema, so an unknown member may have orders as well as a description.
What a member is for is decided by its key; below `default`, `enum`, `examples` and `const` everything is a value.

A definition is found by its kind and name, an entry by its name, a value in it along the JSON Pointer.  Where that ends
early, the position is that of the deepest value that was found.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.diagnostics import Span
from mcpc.reading import Node, parse_json
from mcpc.reading.source import source_of_text
from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc.release.scan.model import Position, Role, ServerTexts, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mcpc.model.ir import Server
    from mcpc.reading import Source
    from mcpc.release.scan.model import Hit, ScannedServer
    from mcpc_runtime.tools.clients.text_edits import EntryPlace


KINDS = {
    "tools": "tool",
    "operations": "tool",
    "prompts": "prompt",
    "resources": "resource",
    "resourceTemplates": "template",
}
IDENTIFIERS = {
    **dict.fromkeys(("tools", "operations", "prompts"), "name"),
    "resources": "uri",
    "resourceTemplates": "uriTemplate",
}
ROLES = {
    "name": Role.NAME,
    "src": Role.ADDRESS,
    "websiteUrl": Role.ADDRESS,
    "uri": Role.ADDRESS,
    "uriTemplate": Role.ADDRESS,
    "url": Role.ADDRESS,
    "text": Role.CONTENTS,
    "blob": Role.SYNTAX,
    **dict.fromkeys(("type", "format", "pattern", "mimeType", "version", "sizes", "theme", "required"), Role.SYNTAX),
    **dict.fromkeys(("$ref", "$schema", "$id", "$anchor", "$dynamicRef", "contentEncoding"), Role.SYNTAX),
    **dict.fromkeys(("taskSupport", "priority", "audience", "lastModified"), Role.SYNTAX),
}
"""The roles of members by their key; any other text is prose."""
VALUES = frozenset({"default", "enum", "examples", "example", "const"})
"""Keys below which everything is a value."""
NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"})
"""Keys whose members have names that the author chose."""
PLAIN_KEYS = frozenset({*ROLES, *VALUES, *NAMED})


class _Waiting(NamedTuple):
    value: Any
    pointer: str
    field: str
    role: Role
    is_named: bool


def server_texts(server: ScannedServer) -> ServerTexts:
    """Return a server with all its texts, in the order of its lists."""
    return ServerTexts(server, tuple(_texts(server)))


def _texts(server: ScannedServer) -> Iterator[Text]:
    lists = server.lists
    if lists.get("instructions"):
        yield Text("server", "", "instructions", "/instructions", Role.PROSE, str(lists["instructions"]))
    yield from _walk("server", "", lists.get("serverInfo") or {}, "/serverInfo")
    for key, kind in KINDS.items():
        items = lists.get(key)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            name = str(item.get(IDENTIFIERS[key], "")) if isinstance(item, dict) else ""
            yield from _walk(kind, name, item, f"/{key}/{number}")
    settings = lists.get("settings")
    for number, item in enumerate(settings if isinstance(settings, list) else ()):
        name = str(item.get("name", "")) if isinstance(item, dict) else ""
        yield from _walk("setting", name, item, f"/settings/{number}")
    for file in server.files:
        yield Text(file.kind, file.path, file.field, "", file.role, file.text)


def _walk(kind: str, name: str, root: Mapping[str, Any], base: str) -> Iterator[Text]:
    """Yield the texts of one definition in order.  A stack, not recursion: a server decides how deep it is."""
    waiting = [_Waiting(root, base, "", Role.PROSE, is_named=False)]
    while waiting:
        at = waiting.pop()
        if isinstance(at.value, str):
            yield Text(kind, name, at.field, at.pointer, at.role, at.value)
        elif isinstance(at.value, list):
            below = [(f"{at.pointer}/{number}", item) for number, item in enumerate(at.value)]
            waiting += (_Waiting(item, pointer, at.field, at.role, is_named=False) for pointer, item in below[::-1])
        elif isinstance(at.value, dict):
            for key in at.value:
                # Other keys are words of the protocol and of JSON Schema, and not of the author.
                if at.is_named or key not in PLAIN_KEYS:
                    role = Role.VALUE if at.role is Role.VALUE else Role.NAME
                    yield Text(kind, name, f"{at.field}.{key}".lstrip("."), f"{at.pointer}/{escaped(key)}", role, key)
            waiting += reversed([*_members(at)])


def _members(at: _Waiting) -> Iterator[_Waiting]:
    for key, value in at.value.items():
        role = ROLES.get(key, Role.PROSE)
        if at.role is Role.VALUE or (key in VALUES and not at.is_named):
            role = Role.VALUE
        elif at.is_named:
            role = Role.PROSE
        field = f"{at.field}.{key}".lstrip(".")
        is_named = key in NAMED and not at.is_named and role is not Role.VALUE
        yield _Waiting(value, f"{at.pointer}/{escaped(key)}", field, role, is_named)


def escaped(key: str) -> str:
    """Return a key as a part of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def locator(server: Server, sources: Mapping[str, Source], folder: str) -> Callable[[Hit], Position | None]:
    """Return the function that finds hits in a project; `folder`: where the project is."""
    definitions: dict[tuple[str, str], tuple[Span, Node]] = {("server", ""): (server.node.span, server.node)}
    definitions |= {("tool", item.name): (item.span, item.node) for item in server.tools}
    definitions |= {("prompt", item.name): (item.span, item.node) for item in server.prompts}
    definitions |= {("resource", item.uri): (item.span, item.node) for item in server.resources}
    definitions |= {("template", item.uri.text): (item.span, item.node) for item in server.templates}

    def locate(hit: Hit) -> Position | None:
        text = hit.text
        if text.kind == "file" and text.item in sources:
            return _position(Span(text.item, hit.start, max(hit.end, hit.start)), sources, folder)
        kind = "resource" if text.kind == "file" else text.kind
        if (kind, text.item) not in definitions:
            return None
        span, node = definitions[kind, text.item]
        # The pointer of a definition is `/tools/0`, that of the server `/serverInfo`.
        steps = _steps(node, text.pointer.split("/")[2 if text.kind == "server" else 3 :])
        target = [node, *(value for _, value in steps)][-1]
        if text.kind == "server" and text.field:
            target = node.get(text.field.partition(".")[0]) or target
        if target is not node:
            span = _within(target, hit, sources)
        return _position(span, sources, folder)

    return locate


def _steps(node: Node, keys: Iterable[str]) -> Iterator[tuple[Span, Node]]:
    """Yield the place and the value of each key, or item of a list by number or name, as far as there are any."""
    for written in keys:
        key = written.replace("~1", "/").replace("~0", "~")
        # Of equal keys the last one counts, as `json.loads` reads them.
        steps = [(member.key_span, member.node) for member in reversed(node.members) if member.key == key]
        for number, item in enumerate(node.items):
            name = item.get("name")
            if key == str(number) or (name is not None and name.value == key):
                steps.append(((name or item).span, item))
        if not steps:
            return
        yield steps[0]
        node = steps[0][1]


def _within(node: Node, hit: Hit, sources: Mapping[str, Source]) -> Span:
    """Return the position of a hit in a text; that of the whole text if it is written with escapes."""
    source = sources.get(node.path)
    if source is None or node.value != hit.text.text or hit.end <= hit.start:
        return node.span
    start = source.text.find(hit.text.text, node.start, node.end)
    return node.span if start < 0 else Span(node.path, start + hit.start, start + hit.end)


def _position(span: Span, sources: Mapping[str, Source], folder: str) -> Position | None:
    """Return a span as lines and columns, with the path from the working folder."""
    source = sources.get(span.path)
    if source is None:
        return None
    path = span.path if folder in ("", ".") else f"{folder}/{span.path}"
    return Position(path, *source.position(span.start), *source.position(max(span.start, span.end)))


def entry_position(path: str, text: str, form: str, place: EntryPlace, keys: tuple[str, ...]) -> Position | None:
    """Return the position of a key in a client's file; `keys`: the server's name, then those in its entry."""
    if form == "toml":
        span = _toml_line(path, text, keys)
    else:
        root = _root(path, text, form)
        # A client may have servers in several places: the deepest match is the entry.
        steps = max(([*_steps(root, (*above, *keys))] for above in place.keys), key=len)
        span = steps[-1][0] if steps else Span(path)
    return _position(span, {path: source_of_text(path, text)}, "")


# Every finding in a file asks for its tree.
@lru_cache(maxsize=2)
def _root(path: str, text: str, form: str) -> Node:
    """Return what can be read of JSON or YAML."""
    try:
        root = read_yaml(text, path) if form == "yaml" else parse_json(source_of_text(path, text))[0]
    except YamlError:
        root = None
    return root or Node(None, path, 0, 0)


def _toml_line(path: str, text: str, keys: Iterable[str]) -> Span:
    """Return the range of the line that names the last key after the line that names the server."""
    at, span = 0, Span(path)
    # The number of an item in a list is written nowhere.
    for key in (key for key in keys if not key.isdecimal()):
        name = rf"[\"']?{re.escape(key)}[\"']?"
        line = re.compile(rf"^[ \t]{{0,80}}((?:\[[^\n\]]{{0,200}}\.)?{name}(?:[ \t]{{0,8}}=|\]))", re.MULTILINE)
        match = line.search(text, at)
        if not match:
            break
        at, span = match.end(), Span(path, *match.span(1))
    return span
