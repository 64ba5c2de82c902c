"""Where a hit is: in the files of a project, and in the entry of a server in a client's file.

A definition is found by its kind and name, an entry by its name, a value in it along the JSON Pointer.  Where that ends
early, the position is that of the deepest value that was found.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.reading import Node, parse_json
from mcpc.reading.source import source_of_text
from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc.release.scan.model import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mcpc.model.ir import Server
    from mcpc.reading import Source
    from mcpc.release.scan.model import Hit
    from mcpc_runtime.tools.clients.text_edits import EntryPlace


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
        steps = _steps(node, text.pointer.split("/")[2 if text.kind == "server" else 3 :])
        found = [node, *(value for _, value in steps)][-1]
        if text.kind == "server" and text.field:
            found = node.get(text.field.partition(".")[0]) or found
        if found is not node:
            span = _within(found, hit, sources)
        return _position(span, sources, folder)

    return locate


def _steps(node: Node, keys: Iterable[str]) -> Iterator[tuple[Span, Node]]:
    """Yield the place and the value of each key, or item of a list by number or name, as far as there are any."""
    for written in keys:
        key = written.replace("~1", "/").replace("~0", "~")
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
        steps = max(([*_steps(root, (*above, *keys))] for above in place.keys), key=len)
        span = steps[-1][0] if steps else Span(path)
    return _position(span, {path: source_of_text(path, text)}, "")


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
    for key in (key for key in keys if not key.isdecimal()):
        name = rf"[\"']?{re.escape(key)}[\"']?"
        line = re.compile(rf"^[ \t]{{0,80}}((?:\[[^\n\]]{{0,200}}\.)?{name}(?:[ \t]{{0,8}}=|\]))", re.MULTILINE)
        found = line.search(text, at)
        if not found:
            break
        at, span = found.end(), Span(path, *found.span(1))
    return span
