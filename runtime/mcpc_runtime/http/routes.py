"""Routes: the handlers of each path, and the reply where there is none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcpc_runtime.http.interfaces import Authenticator
from mcpc_runtime.http.principals import SEND_TOKEN
from mcpc_runtime.http.refusal_log import REGISTRATION, WELL_KNOWN
from mcpc_runtime.http.replies import JSON, Answer, Receive, Reply, refuse
from mcpc_runtime.http.request import HttpRequest
from mcpc_runtime.http.settings import HttpSettings

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
