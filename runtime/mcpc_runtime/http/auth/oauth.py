"""The OAuth resource server (RFC 9728, RFC 6750): its public metadata, its challenges, and the check of tokens.

The metadata document, which names the authorization server, is built once.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Protocol
from urllib.parse import urlsplit

from mcpc_runtime.http.auth.token_claims import Claims, principal_of
from mcpc_runtime.http.principals import (
    AllowedTools,
    Authenticated,
    Denied,
    InvalidTokenError,
    MisconfiguredError,
    Principal,
    UnavailableError,
    challenge,
    deny,
)
from mcpc_runtime.protocol.jsonrpc import Json, encode


class Verifier(Protocol):
    """Verifies tokens; raises InvalidTokenError or UnavailableError."""

    def verify(self, token: str, audiences: frozenset[str], source: Callable[[], str]) -> Claims | Awaitable[Claims]:
        """Return the claims of a token, or an awaitable of them."""
        ...


WELL_KNOWN = "/.well-known/oauth-protected-resource"
# A scope-token of RFC 6749, section 3.3: printable ASCII without space, quote and backslash.
is_scope = re.compile(r"[!#-\[\]-~]+").fullmatch
is_pattern = re.compile(r"[A-Za-z0-9_.*-]{1,128}").fullmatch


class Scopes:
    """The scopes that tokens must grant: `always`, and more for some tools; a scope may imply others.

    Written as a list of `SCOPE`, of `TOOLS=SCOPE` (names with `*`), and of `SCOPE>IMPLIED`.
    """

    __slots__ = ("always", "implied", "tools")

    def __init__(self, rules: Sequence[str]) -> None:
        always: list[str] = []
        tools: list[tuple[AllowedTools, str]] = []
        implied: dict[str, tuple[str, ...]] = {}
        for text in rules:
            pattern, equals, scope = text.partition("=")
            above, sign, below = text.partition(">")
            if equals and is_pattern(pattern) and is_scope(scope):
                tools.append((AllowedTools((pattern,)), scope))
            elif sign and is_scope(above) and is_scope(below):
                implied[above] = (*implied.get(above, ()), below)
            elif not equals and not sign and is_scope(text):
                always.append(text)
            else:
                raise MisconfiguredError(f"the scope {text!r} is not written SCOPE, TOOLS=SCOPE or SCOPE>IMPLIED")
        self.always, self.tools, self.implied = tuple(always), tuple(tools), implied

    def of(self, tool: str) -> tuple[str, ...]:
        """Return the scopes that a call of a tool needs."""
        return tuple(dict.fromkeys((*self.always, *(scope for tools, scope in self.tools if tools(tool)))))

    @property
    def all(self) -> tuple[str, ...]:
        """All scopes that the server or a tool needs."""
        return tuple(dict.fromkeys((*self.always, *(scope for _, scope in self.tools))))


class GrantedTools:
    """The tools that some scopes allow; equal scopes allow equal tools."""

    __slots__ = ("_granted", "_scopes")

    def __init__(self, scopes: Scopes, granted: frozenset[str]) -> None:
        self._scopes = scopes
        self._granted = granted

    def __call__(self, name: str) -> bool:
        """Tell whether this tool is among them."""
        return self._granted.issuperset(self._scopes.of(name))

    def __eq__(self, other: object) -> bool:
        """Tell whether they are the same tools."""
        return isinstance(other, GrantedTools) and (other._scopes, other._granted) == (self._scopes, self._granted)

    def __hash__(self) -> int:
        """Return the same number for equal tools."""
        return hash(self._granted)


class Resource:
    """One endpoint as an OAuth resource: its URL, its metadata, and the challenge for clients without a token."""

    __slots__ = ("audiences", "document", "metadata", "places", "scope")

    def __init__(self, url: str, path: str, issuer: str, scopes: Scopes) -> None:
        parts = urlsplit(url)
        # The canonical address of a server is in lower case, without a slash after a bare host (MCP 2025-06-18).
        root = f"{parts.scheme.lower()}://{parts.netloc.lower()}"
        public = parts.path if parts.path != "/" else ""
        self.metadata = f"{root}{WELL_KNOWN}{public}"
        self.places = tuple(
            dict.fromkeys((f"{WELL_KNOWN}{public}", f"{WELL_KNOWN}{path}" if path != "/" else WELL_KNOWN))
        )
        self.audiences = frozenset({f"{root}{public}"})
        self.scope = " ".join(scopes.always)
        document: dict[str, Json] = {
            "resource": f"{root}{public}",
            "authorization_servers": [issuer],
            "bearer_methods_supported": ["header"],
        }
        if scopes.all:
            document["scopes_supported"] = list(scopes.all)
        self.document = encode(document)

    def challenge(self, error: str = "", description: str = "", scope: str = "") -> str:
        """Return the challenge that tells a client how to get a sufficient token."""
        more = {"error": error, "error_description": description}
        return challenge(resource_metadata=self.metadata, scope=scope or self.scope, **more)


class OAuth:
    """The resource server: authenticates requests by tokens of an authorization server.

    `hides`: tools whose scopes a token lacks are not listed; otherwise they are, and a call is denied with the scopes
    that it needs.
    """

    def __init__(
        self, issuer: str, verifier: Verifier, resources: dict[str, Resource], scopes: Scopes, *, hides: bool = False
    ) -> None:
        self._issuer = issuer
        self._verifier = verifier
        self._resources = resources
        self._main = next(iter(resources.values()))
        self._scopes = scopes
        self._hides = hides
        self.documents = {place: resource.document for resource in resources.values() for place in resource.places}
        # Clients may look at the root of the host, whatever the path of the endpoint is.
        self.documents.setdefault(WELL_KNOWN, self._main.document)

    def resource(self, path: str) -> Resource:
        """Return the endpoint at a path; the first endpoint for an unknown path."""
        return self._resources.get(path, self._main)

    def check(self, token: str, path: str, source: Callable[[], str] = str) -> Authenticated | Awaitable[Authenticated]:
        """Return the principal of a token, or its denial; `source`: returns the address of its sender."""
        resource = self.resource(path)
        try:
            claims = self._verifier.verify(token, resource.audiences, source)
            if isawaitable(claims):
                return self._check_later(claims, resource)
            return self._principal_of(claims, resource)
        except InvalidTokenError as problem:
            return deny_token(resource, str(problem))
        except UnavailableError:
            return deny(503, error="temporarily_unavailable")

    async def _check_later(self, claims: Awaitable[Claims], resource: Resource) -> Authenticated:
        try:
            return self._principal_of(await claims, resource)
        except InvalidTokenError as problem:
            return deny_token(resource, str(problem))
        except UnavailableError:
            return deny(503, error="temporarily_unavailable")

    def _principal_of(self, claims: Claims, resource: Resource) -> Authenticated:
        principal = principal_of(claims, self._issuer, self._scopes.implied)
        granted = principal.scopes or frozenset()
        if not granted.issuperset(self._scopes.always):
            return deny_scope(resource, self._scopes.always)
        if self._hides and self._scopes.tools:
            principal.allows = GrantedTools(self._scopes, granted)
        return principal

    def permit(self, principal: Principal, name: str, path: str) -> Denied | None:
        """Return the denial of a call of a tool whose scopes a token does not grant, None if it grants them."""
        needed = self._scopes.of(name)
        # What is hidden is answered later, as a tool that does not exist.
        if principal.scopes is None or principal.scopes.issuperset(needed) or self._hides:
            return None
        return deny_scope(self.resource(path), needed)


def deny_token(resource: Resource, reason: str) -> Denied:
    """Return the denial of a request with a token that is not accepted."""
    return deny(401, resource.challenge("invalid_token", reason), "invalid_token", reason)


def deny_scope(resource: Resource, needed: tuple[str, ...]) -> Denied:
    """Return the denial of a request whose token grants too little, with the scopes that are needed."""
    reason = "the token does not grant enough"
    answer = resource.challenge("insufficient_scope", reason, " ".join(needed))
    return deny(403, answer, "insufficient_scope", reason)
