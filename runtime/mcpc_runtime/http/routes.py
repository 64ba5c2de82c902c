"""Routes: the handlers of each path, and the reply where there is none.

Documents by which clients find a server that has a public address: its Server Card, and a catalog of the cards.

Both are public, as SEP-2127 has them (`GET <address>/server-card`, `/.well-known/ai-catalog.json`), and say what the
server says of itself when it is connected to: no definitions.  They are made once, when the server begins.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from mcpc_runtime.http.interfaces import Authenticator
from mcpc_runtime.http.principals import SEND_TOKEN
from mcpc_runtime.http.replies import JSON, PROTECTED, Answer, Pairs, Receive, Reply, refuse
from mcpc_runtime.http.request import HttpRequest
from mcpc_runtime.http.server_log import REGISTRATION, WELL_KNOWN
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.constants import SERVER_INFO_KEY
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, encode

Handler = Callable[[HttpRequest, Receive], Awaitable[Answer | None]]
"""Answers one request; None if its client has disconnected."""


class Route:
    """The handlers of one path, by method.

    `is_public`: served without any check.  `is_open`: served without a token, with bodies of any type.  `allow`: the
    methods, as the Allow header has them; `preflight`: those that a page may use by CORS, empty for none.  `auth_path`:
    the path of the endpoint whose tokens are accepted.
    """

    __slots__ = ("allow", "auth_path", "handlers", "is_open", "is_public", "preflight")

    def __init__(
        self,
        handlers: dict[str, Handler],
        auth_path: str = "",
        allow: bytes = b"GET, HEAD",
        preflight: bytes = b"",
        *,
        is_public: bool = False,
    ) -> None:
        self.handlers = handlers
        self.auth_path = auth_path
        self.allow = allow
        self.preflight = preflight
        self.is_public = is_public
        self.is_open = False

    def refuse_method(self) -> Reply:
        """Return the reply to a method that has no handler."""
        method = "POST" if "POST" in self.handlers else "GET"
        return refuse(405, f"method not allowed: use {method}", [(b"allow", self.allow)])


class DisabledRoute(Route):
    """The route of a feature that is off; `reason` says how to turn it on."""

    __slots__ = ("_reason",)

    def __init__(self, reason: str, auth_path: str) -> None:
        super().__init__({}, auth_path)
        self._reason = reason

    def refuse_method(self) -> Reply:
        """Return the reply to any request."""
        return refuse(404, self._reason)


def document_route(path: str, authenticator: Authenticator | None) -> Route | None:
    """Return the route of a public document of the authenticator, None if there is none at this path."""
    if authenticator is None or not path.startswith(WELL_KNOWN):
        return None
    document = authenticator.document(path)
    if document is None:
        return None

    async def send_document(request: HttpRequest, _: Receive) -> Reply:
        return 200, JSON, b"" if request.method == "HEAD" else document

    return Route({"GET": send_document, "HEAD": send_document}, is_public=True)


def describe_missing(path: str, settings: HttpSettings) -> str:
    """Return why nothing is served at a path, for the person who reads it."""
    if not path.startswith(WELL_KNOWN) and path not in REGISTRATION:
        return f"not found; the endpoint is {settings.path}"
    if settings.authenticator is None:
        return "there is no authorization server here, and no token is needed"
    return f"there is no authorization server here; {SEND_TOKEN}"


CATALOG = "/.well-known/ai-catalog.json"
CARD = "/server-card"
"""What follows the path of an endpoint."""
SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CATALOG_VERSION = "1.0"
CARD_TYPE, CATALOG_TYPE = "application/mcp-server-card+json", "application/ai-catalog+json"
MAX_TEXT = 100
"""The longest title and description of a card."""
TOKEN_HEADER: dict[str, Json] = {
    "name": "Authorization",
    "isRequired": True,
    "isSecret": True,
    "placeholder": "Bearer …",
}
# Without the first of PROTECTED, which forbids caching.
PUBLIC: Pairs = [(b"cache-control", b"public, max-age=3600"), *PROTECTED[1:]]
ANY_ORIGIN: Pairs = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"ETag")]


def discovery_routes(images: Mapping[str, Image], settings: HttpSettings) -> dict[str, Route]:
    """Return the routes of the documents of a server with a public address (`--url`), by their paths."""
    begin = settings.url.removesuffix(settings.path)
    # The public address of another endpoint is known only if that of the main one ends with its path.
    served = {path: image for path, image in images.items() if path == settings.path or begin != settings.url}
    host = as_name(urlsplit(settings.url).hostname or "")
    routes: dict[str, Route] = {}
    entries: list[Json] = []
    for path, image in served.items():
        url = settings.url if path == settings.path else begin + path
        card = server_card(image, url, host, needs_token=bool(settings.authenticator) and not settings.issuer)
        routes[path.rstrip("/") + CARD] = cached_document(CARD_TYPE, card)
        identifier = f"urn:air:{host}:mcp:{as_name(server_info(image)['name'])}"
        entries.append({"identifier": identifier, "type": CARD_TYPE, "url": url.rstrip("/") + CARD})
    routes[CATALOG] = cached_document(CATALOG_TYPE, {"specVersion": CATALOG_VERSION, "entries": entries})
    return routes


def server_card(image: Image, url: str, host: str, *, needs_token: bool) -> dict[str, Json]:
    """Return the card of a server at a public address; `needs_token`: a token that its operator gives."""
    info = server_info(image)
    title = str(info.get("title") or "")[:MAX_TEXT]
    remote: dict[str, Json] = {
        "type": "streamable-http",
        "url": url,
        "supportedProtocolVersions": [*image.index["stateless_versions"], *reversed(image.index["handshake_versions"])],
    }
    members: dict[str, Json] = {
        "$schema": SCHEMA,
        "name": f"{'.'.join(reversed(host.split('.')))}/{as_name(info['name'])}",
        "version": str(info["version"]),
        "title": title,
        "description": str(info.get("description") or title or info["name"])[:MAX_TEXT],
        "websiteUrl": info.get("websiteUrl"),
        "icons": info.get("icons"),
        "remotes": [{**remote, "headers": [TOKEN_HEADER]} if needs_token else remote],
    }
    return {name: value for name, value in members.items() if value}


def server_info(image: Image) -> dict[str, Any]:
    """Return the name, the version and the like of a server."""
    info: dict[str, Any] = image.index["result_meta"][SERVER_INFO_KEY]
    return info


def as_name(text: str) -> str:
    """Return a text with the characters that names of cards may have."""
    return re.sub(r"[^a-zA-Z0-9._-]+", "-", text).strip("-") or "server"


def cached_document(kind: str, value: Json) -> Route:
    """Return the route of a document that never changes."""
    body = encode(value)
    tag = b'"%08x-%x"' % (crc32(body), len(body))
    headers: Pairs = [(b"content-type", kind.encode()), (b"etag", tag), *PUBLIC]

    async def send_document(request: HttpRequest, _: Receive) -> Reply:
        # An origin that is allowed gets its own CORS headers, and must not get each of them twice.
        sent = headers if request.headers.cors else headers + ANY_ORIGIN
        if request.headers.fields.get(b"if-none-match") == tag:
            return 304, sent, b""
        return 200, sent, b"" if request.method == "HEAD" else body

    return Route({"GET": send_document, "HEAD": send_document}, is_public=True)
