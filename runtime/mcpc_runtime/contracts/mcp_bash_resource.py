"""A resource of mcp-bash: a provider has its contents, and ends with a status that says what it could not do.

A uri that nobody listed is read all the same, if a provider takes it; each provider decides what it gives away.
"""

from __future__ import annotations

from mcpc_runtime.contents import contents_of
from mcpc_runtime.image import Definition
from mcpc_runtime.protocol.effects import Failure, ResourceOutcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from mcpc_runtime.protocol.jsonrpc import parse
from mcpc_runtime.protocol.media import is_text, is_textual, media_type
from mcpc_runtime.protocol.raised import ending
from mcpc_runtime.protocol.resources import unknown
from mcpc_runtime.providers.places import provider_of, wanted
from mcpc_runtime.providers.surroundings import in_dialect, most_bytes
from mcpc_runtime.providers.wanted import (
    INVALID,
    MISSING,
    OUTSIDE,
    TOO_LARGE,
    UNREACHABLE,
    Page,
    Repository,
    see,
    too_large,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending, Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.providers.wanted import Brought

PLAIN = "text/plain"
CONTRACT = "mcp_bash_resource"
SUBSCRIBE = "resources/subscribe"
FACET = "facet"
"""The key of the index that only a part of a server has."""
FAILED = (INTERNAL_ERROR, "Resource provider failed")
ENDINGS = {
    INVALID: (INVALID_PARAMS, "Invalid resource specification"),
    UNREACHABLE: (INTERNAL_ERROR, "Resource fetch failed"),
    TOO_LARGE: (INTERNAL_ERROR, "Resource exceeded size limit"),
}
"""By a provider's status: the code, and what is said if the provider says nothing."""
IN_DIALECT = {
    OUTSIDE: (INTERNAL_ERROR, "Resource outside allowed roots"),
    MISSING: (RESOURCE_NOT_FOUND, "Resource not found"),
}
"""What the original says where there is no resource for a client; else that is said as MCP says it."""


def prepare(call: Call, image: Image) -> Any:
    """Return what the provider is asked for."""
    return asked(image, call.definition, str(call.request.params["uri"]))


def asked(image: Image, definition: Any, uri: str) -> Any:
    """Return what a provider is asked for, for a uri; a template leaves it to the uri which provider that is."""
    file, provider, listed, *_ = definition.handler
    return wanted(image, provider or provider_of(image, uri), uri, file if listed == uri else "")


def conclude(call: Call, brought: Brought) -> Ending:
    """Return the contents, or why there are none."""
    if brought.status:
        return refusal(call, brought)
    most = most_bytes()
    if len(brought.data) + brought.dropped > most:
        return Failure(INTERNAL_ERROR, too_large(most))
    uri = str(call.request.params["uri"])
    if call.request.method == SUBSCRIBE:
        see(uri, brought)
    said = call.definition.handler[3] or brought.mime
    outcome = ResourceOutcome([contents(uri, said, brought.data)])
    outcome.log = brought.words
    return outcome


def contents(uri: str, said: str, data: bytes) -> Json:
    """Return bytes as contents: of a text the line ends at its end are left out, as a shell does."""
    mime = said if said and (said != PLAIN or is_text(data)) else media_type(uri, data)
    if is_textual(mime) and not is_text(data):
        return contents_of(uri, "application/octet-stream", data)
    return contents_of(uri, mime, data.rstrip(b"\n") if is_textual(mime) else data)


def refusal(call: Call, brought: Brought) -> Ending:
    """Return the error that a provider's status is."""
    if brought.status not in IN_DIALECT:
        code, words = ENDINGS.get(brought.status, FAILED)
        return Failure(code, brought.words or words)
    failure: Ending = unknown(call.request)
    if in_dialect(call.request.session.image):
        code, words = IN_DIALECT[brought.status]
        failure = ending(call, {"code": code, "message": words})
    failure.log = f"{call.definition.name}: {brought.words}" if brought.words else ""
    return failure


def unlisted(image: Image, uri: str) -> tuple[Definition, dict[str, Json]] | None:
    """Return what reads a uri that nobody listed, None if no provider takes it; a facet has what is its own alone."""
    provider = "" if FACET in image.index else provider_of(image, uri)
    if not provider:
        return None
    return Definition(image, uri, (CONTRACT, ("", provider, "", "", ""), (), None, None, None, None)), {}


def named(request: Request) -> str | None:
    """Return the uri of the resource that a request names, which is then what it asks for; None if there is none.

    O(resources): an extension that nobody has to use.
    """
    name, cursor = request.params.get("name"), None
    while type(name) is str:
        page: Any = parse(request.wire.page("resources/list", cursor) or b"{}")
        for one in page.get("resources", ()):
            if one["name"] == name:
                request.params["uri"] = one["uri"]
                return str(one["uri"])
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    return None


def looked_at(image: Image, definition: Any, uri: str) -> Any:
    """Return what a provider is asked for to see whether something changed, None for what is not asked again and again.

    Those are the pages and repositories of others.
    """
    if definition.contract != CONTRACT:
        return None
    made = asked(image, definition, uri)
    return None if isinstance(made, (Page, Repository)) else made
