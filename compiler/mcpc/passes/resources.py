"""Check that every resource and template has a valid and unique URI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc_runtime.protocol.uri_matching import MAX_URI_LENGTH
from mcpc_runtime.protocol.validation.formats.uris import is_uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.model.ir import Resource, Server

LEGAL = "an absolute URI (RFC 3986): `config://app`, `file:///a%20b.txt`"


def check_uris(server: Server) -> Diagnostics:
    """Report URIs that no client can request, and duplicate ones."""
    uris = [(item.uri, item.node.span_of("uri") or item.span) for item in server.resources]
    templates = [(item.uri.text, item.node.span_of("uriTemplate") or item.span) for item in server.templates]
    return (
        *(problem for item in server.resources for problem in _illegal(item)),
        *_repeated("resources", uris, server),
        *_repeated("resource templates", templates, server),
    )


def _illegal(resource: Resource) -> Iterator[Diagnostic]:
    span = resource.node.span_of("uri") or resource.span
    if len(resource.uri) > MAX_URI_LENGTH:
        yield diagnose("MCP120", span, f"the URI has {len(resource.uri)} characters", f"at most {MAX_URI_LENGTH}")
    elif not is_uri(resource.uri):
        hint = "a URI with `{…}` is a template: move it to `resourceTemplates`" if "{" in resource.uri else ""
        yield diagnose("MCP120", span, f"`{resource.uri}` is not an absolute URI", LEGAL, hint)


def _repeated(what: str, found: Iterable[tuple[str, Span]], server: Server) -> Iterator[Diagnostic]:
    firsts: dict[str, Span] = {}
    for uri, span in found:
        first = firsts.setdefault(uri, span)
        if first is not span:
            hint = f"the first is at {first.place_in(server.sources)}; change or remove one of them"
            yield diagnose("MCP104", span, f"two {what} have the URI `{uri}`", "", hint)
