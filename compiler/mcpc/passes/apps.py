"""Ask whether every user interface that a tool names is there, and is one that hosts can show.

tool       {"_meta": {"ui": {"resourceUri": "ui://chart", "visibility": ["model", "app"]}}}
resource   {"uri": "ui://chart", "mimeType": "text/html;profile=mcp-app", "_meta": {"ui": {"csp": {…}}}}
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcpc.definitions.media import APP, APP_SCHEME
from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Resource, Server
    from mcpc.sources import Node

OF_TOOL = ("resourceUri", "visibility")
OF_RESOURCE = ("csp", "permissions", "domain", "prefersBorder")
VISIBLE_TO = ("model", "app")
LEGACY = "ui/resourceUri"
"""What the key was called before it became an object; hosts still read it, so it is held to the same rules."""


def apps(server: Server) -> Diagnostics:
    """Report user interfaces that are missing, or that hosts would not show."""
    resources = {resource.uri: resource for resource in server.resources}
    problems: list[Diagnostic] = []
    for tool in server.tools:
        meta = tool.members.get("_meta")
        said = meta.get("ui") if meta is not None else None
        problems += _of_tool(said, resources)
        problems += _named(meta.get(LEGACY) if meta is not None else None, resources)
    for resource in server.resources:
        if resource.uri.startswith(APP_SCHEME):
            problems += _of_resource(resource)
    return tuple(problems)


def _of_tool(said: Node | None, resources: dict[str, Resource]) -> Iterator[Diagnostic]:
    if said is None:
        return
    if said.kind != "object":
        yield diagnose("MCP101", said.span, "`_meta.ui` of a tool must be an object", '`{"resourceUri": "ui://…"}`')
        return
    yield from _strangers(said, OF_TOOL)
    yield from _named(said.get("resourceUri"), resources)
    visibility = said.get("visibility")
    for item in visibility.items if visibility is not None else ():
        if item.value not in VISIBLE_TO:
            yield diagnose("MCP139", item.span, f"`{item.value}` sees no tools", "`model` or `app`")


def _named(uri: Node | None, resources: dict[str, Resource]) -> Iterator[Diagnostic]:
    if uri is None:
        return
    if not isinstance(uri.value, str) or not uri.value.startswith(APP_SCHEME):
        yield diagnose("MCP138", uri.span, f"`{uri.value}` is no uri of a user interface", f"`{APP_SCHEME}…`")
    elif uri.value not in resources:
        near = difflib.get_close_matches(uri.value, resources, n=1)
        added = f'add `{{"uri": "{uri.value}", "file": …}}` to `resources.json`'
        hint = f"did you mean `{near[0]}`?" if near else added
        yield diagnose("MCP137", uri.span, f"no resource has the uri `{uri.value}`", "", hint)


def _of_resource(resource: Resource) -> Iterator[Diagnostic]:
    if resource.mime != APP:
        written = resource.members.get("mimeType")
        span = written.span if written is not None else resource.span
        yield diagnose("MCP138", span, f"a user interface of the type `{resource.mime}`", f"`{APP}`", "leave it out")
    meta = resource.members.get("_meta")
    said = meta.get("ui") if meta is not None else None
    if said is not None and said.kind == "object":
        yield from _strangers(said, OF_RESOURCE)


def _strangers(said: Node, known: tuple[str, ...]) -> Iterator[Diagnostic]:
    for member in said.members:
        if member.key not in known:
            near = difflib.get_close_matches(member.key, known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else ""
            expected = "one of " + ", ".join(f"`{one}`" for one in known)
            yield diagnose("MCP139", member.key_span, f"`{member.key}` means nothing to hosts", expected, hint)
