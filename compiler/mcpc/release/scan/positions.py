"""Where a hit is in the files of a project: its definition by kind and name, then along the JSON Pointer.

The front ends read definitions from several kinds of files.  Where the pointer ends early, the position is that of the
deepest value that was found, at least that of the definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.release.scan.model import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.model.ir import Server
    from mcpc.reading import Node, Source
    from mcpc.release.scan.model import Hit


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
            return position(Span(text.item, hit.start, max(hit.end, hit.start)), sources, folder)
        kind = "resource" if text.kind == "file" else text.kind
        if (kind, text.item) not in definitions:
            return None
        span, node = definitions[kind, text.item]
        found = deepest(node, text.pointer.split("/")[2 if text.kind == "server" else 3 :])
        if text.kind == "server" and text.field:
            found = node.get(text.field.partition(".")[0]) or found
        if found is not node:
            span = within(found, hit, sources)
        return position(span, sources, folder)

    return locate


def deepest(node: Node, keys: list[str]) -> Node:
    """Return the value at a JSON Pointer's keys, or the last one on the way that exists."""
    for key in keys:
        name = key.replace("~1", "/").replace("~0", "~")
        below = node.items[int(name)] if name.isdecimal() and int(name) < len(node.items) else node.get(name)
        if below is None:
            break
        node = below
    return node


def within(node: Node, hit: Hit, sources: Mapping[str, Source]) -> Span:
    """Return the position of a hit in a text; that of the whole text if it is written with escapes."""
    source = sources.get(node.path)
    if source is None or node.value != hit.text.text or hit.end <= hit.start:
        return node.span
    start = source.text.find(hit.text.text, node.start, node.end)
    return node.span if start < 0 else Span(node.path, start + hit.start, start + hit.end)


def position(span: Span, sources: Mapping[str, Source], folder: str) -> Position | None:
    """Return a span as lines and columns, with the path from the working folder."""
    source = sources.get(span.path)
    if source is None:
        return None
    path = span.path if folder in ("", ".") else f"{folder}/{span.path}"
    return Position(path, *source.position(span.start), *source.position(max(span.start, span.end)))
