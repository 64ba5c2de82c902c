"""Icons: one that is a file of the project goes along in the definition, as a `data:` uri."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from mcpc.definitions.media import media_type
from mcpc.frontends.mcp_bash.nodes import given, listed, made, named, whole
from mcpc.frontends.mcp_bash.reading import inside
from mcpc.sources import Member

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import Reading
    from mcpc.sources import Node

ELSEWHERE = ("data:", "http:", "https:")


def with_icons(member: Member, home: str, reading: Reading) -> Member:
    """Return a member `icons` whose files of the project are in it; `home` is the folder where their paths begin."""
    node = member.node
    if node.kind != "array":
        return member
    items = [_carried(item, home, reading) if item.kind == "object" else item for item in node.items]
    return Member(member.key, member.key_start, member.key_end, listed(items, node.span))


def _carried(icon: Node, home: str, reading: Reading) -> Node:
    source = icon.get("src")
    if source is None or not isinstance(source.value, str) or source.value.startswith(ELSEWHERE):
        return icon
    path = inside(home, source.value)
    file = None if path is None else reading.tree.get(path)
    if path is None:
        reading.tell("MCP703", source.span, f"the icon `{source.value}` lies outside the project", "a file beside this")
    elif file is None:
        reading.tell("MCP145", source.span, f"there is no file `{path}`", "an image of the project, or an https: uri")
    if file is None:
        return icon
    mime = media_type(file.path, file.data)
    uri = f"data:{mime};base64,{base64.b64encode(file.data).decode()}"
    fields = {"mimeType": named("mimeType", made(mime, source.span)), **given(icon)}
    return whole([*fields.values(), named("src", made(uri, source.span))], icon.span)
