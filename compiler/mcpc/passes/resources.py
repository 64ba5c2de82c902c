"""Ask whether every resource can be asked for: by a legal uri that no other has; and likewise every template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.ir.places import place
from mcpc_runtime.formats.locators import is_uri
from mcpc_runtime.protocol.matching import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Resource, Server
    from mcpc.sources import Node

LEGAL = "a scheme, `:` and what it names, as RFC 3986 has it: `config://app`, `file:///a%20b.txt`"


def resources(server: Server) -> Diagnostics:
    """Report uris that nobody can ask for, and those that two resources or templates have."""
    uris = [(one.uri, _written(one.members, "uri", one.span)) for one in server.resources]
    templates = [(one.uri.text, _written(one.members, "uriTemplate", one.span)) for one in server.templates]
    return (
        *(problem for one in server.resources for problem in _illegal(one)),
        *_repeated("resources", uris, server),
        *_repeated("resource templates", templates, server),
    )


def _written(members: Node, key: str, otherwise: Span) -> Span:
    found = members.get(key)
    return otherwise if found is None else found.span


def _illegal(resource: Resource) -> Iterator[Diagnostic]:
    span = _written(resource.members, "uri", resource.span)
    if len(resource.uri) > LONGEST:
        yield diagnose("MCP120", span, f"the uri has {len(resource.uri)} characters", f"at most {LONGEST}")
    elif not is_uri(resource.uri):
        hint = "a uri with `{…}` is a template: it goes into `resourceTemplates`" if "{" in resource.uri else ""
        yield diagnose("MCP120", span, f"`{resource.uri}` is no absolute uri", LEGAL, hint)


def _repeated(what: str, found: Iterable[tuple[str, Span]], server: Server) -> Iterator[Diagnostic]:
    firsts: dict[str, Span] = {}
    for uri, span in found:
        first = firsts.setdefault(uri, span)
        if first is not span:
            hint = f"the first is at {place(first, server.sources)}; change or remove one of them"
            yield diagnose("MCP104", span, f"two {what} have the uri `{uri}`", "", hint)
