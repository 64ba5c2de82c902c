"""The contract of mcp-bash resources: a provider returns the contents, or a status that is converted to an error.

A uri that is not listed is read anyway if a provider accepts it; each provider decides what may be read.
"""

from __future__ import annotations

from typing import Any

from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from mcpc_runtime.protocol.contents import contents_of
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.definitions import Definition as ResourceDefinition
from mcpc_runtime.protocol.effects import Call, Ending, Failure, ResourceOutcome
from mcpc_runtime.protocol.handler_errors import error_ending
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, parse
from mcpc_runtime.protocol.media import is_text, is_textual, media_type
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.resources import unknown_resource
from mcpc_runtime.systems.mcp_bash.providers.environment import max_resource_bytes
from mcpc_runtime.systems.mcp_bash.providers.registry import ProviderRequest, build_provider_request, provider_of
from mcpc_runtime.systems.mcp_bash.providers.requests import (
    INVALID,
    MISSING,
    OUTSIDE,
    TOO_LARGE,
    UNREACHABLE,
    GitRequest,
    HttpsRequest,
    ProviderResult,
    remember_first_seen,
    too_large_message,
)
from mcpc_runtime.systems.mcp_bash.settings import settings_of

PLAIN = "text/plain"
CONTRACT = "mcp_bash_resource"
SUBSCRIBE = "resources/subscribe"
VIRTUAL_SERVER = "virtual_server"
"""The key of the index that only a virtual server has."""
DEFAULT_ERROR = (INTERNAL_ERROR, "Resource provider failed")
ERRORS = {
    INVALID: (INVALID_PARAMS, "Invalid resource specification"),
    UNREACHABLE: (INTERNAL_ERROR, "Resource fetch failed"),
    TOO_LARGE: (INTERNAL_ERROR, "Resource exceeded size limit"),
}
"""The error code of a provider's status, and the message if the provider has none."""
DIALECT_ERRORS = {
    OUTSIDE: (INTERNAL_ERROR, "Resource outside allowed roots"),
    MISSING: (RESOURCE_NOT_FOUND, "Resource not found"),
}
"""The errors of the original server for missing resources, used in its dialect only."""


def build_invocation(call: Call, image: Image) -> ProviderRequest:
    """Return the request to the provider."""
    return build_request(image, call.definition, str(call.request.params["uri"]))


def build_request(image: Image, definition: ResourceDefinition, uri: str) -> ProviderRequest:
    """Return the provider request for a uri; for a template, the uri's scheme selects the provider."""
    file, provider, listed, *_ = definition.handler
    return build_provider_request(image, provider or provider_of(image, uri), uri, file if listed == uri else "")


def parse_result(call: Call, result: ProviderResult) -> Ending:
    """Return the contents or the error."""
    if result.status:
        return provider_error(call, result)
    most = max_resource_bytes()
    if len(result.data) + result.dropped > most:
        return Failure(INTERNAL_ERROR, too_large_message(most))
    uri = str(call.request.params["uri"])
    if call.request.method == SUBSCRIBE:
        remember_first_seen(uri, result)
    mime = call.definition.handler[3] or result.mime
    outcome = ResourceOutcome([build_contents(uri, mime, result.data)])
    outcome.log = result.message
    return outcome


def build_contents(uri: str, declared: str, data: bytes) -> Json:
    """Return bytes as contents; line ends at the end of a text are removed, as a shell does."""
    mime = declared if declared and (declared != PLAIN or is_text(data)) else media_type(uri, data)
    if is_textual(mime) and not is_text(data):
        return contents_of(uri, "application/octet-stream", data)
    return contents_of(uri, mime, data.rstrip(b"\n") if is_textual(mime) else data)


def provider_error(call: Call, result: ProviderResult) -> Ending:
    """Return the error for a provider's status."""
    if result.status not in DIALECT_ERRORS:
        code, default = ERRORS.get(result.status, DEFAULT_ERROR)
        return Failure(code, result.message or default)
    failure: Ending = unknown_resource(call.request)
    if settings_of(call.request.session.image).in_dialect:
        code, message = DIALECT_ERRORS[result.status]
        failure = error_ending(call, {"code": code, "message": message})
    failure.log = f"{call.definition.name}: {result.message}" if result.message else ""
    return failure


def find_unlisted(image: Image, uri: str) -> tuple[Definition, dict[str, Json]] | None:
    """Return the definition for an unlisted uri, None if no provider accepts it; not for virtual servers."""
    # A virtual server offers a part of the resources, and any uri would lead beyond it.
    provider = "" if VIRTUAL_SERVER in image.index else provider_of(image, uri)
    if not provider:
        return None
    return Definition(image, uri, (CONTRACT, ("", provider, "", "", ""), (), None, None, None, None)), {}


def resolve_name(request: Request) -> str | None:
    """Return the uri of the resource with the requested name, and set it in the request; None if there is none.

    O(resources): an optional extension.
    """
    name, cursor = request.params.get("name"), None
    while type(name) is str:
        page: Any = parse(request.wire.page("resources/list", cursor) or b"{}")
        for item in page.get("resources", ()):
            if item["name"] == name:
                request.params["uri"] = item["uri"]
                return str(item["uri"])
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    return None


def polling_request(image: Image, definition: ResourceDefinition, uri: str) -> ProviderRequest | None:
    """Return the provider request to detect a change of a resource, None for resources that are not polled.

    Web pages and repositories are not polled.
    """
    if definition.contract != CONTRACT:
        return None
    request = build_request(image, definition, uri)
    return None if isinstance(request, (HttpsRequest, GitRequest)) else request


def is_polled(definition: ResourceDefinition) -> bool:
    """Tell whether a resource changes without a notification, so that it must be polled."""
    return definition.contract == CONTRACT


def names_subscriptions(image: Image) -> bool:
    """Tell whether clients expect the original server's dialect, in which each subscription has a name."""
    return settings_of(image).in_dialect
