"""Check that every user interface that a tool names exists, and that hosts can show it.

tool       {"_meta": {"ui": {"resourceUri": "ui://chart", "visibility": ["model", "app"]}}}
resource   {"uri": "ui://chart", "mimeType": "text/html;profile=mcp-app", "_meta": {"ui": {"csp": {…}}}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import did_you_mean, quoted
from mcpc.model.definitions.media import APP, APP_SCHEME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Located, Resource, Server, UserInterface

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
