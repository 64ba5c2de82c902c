"""Authentication by bearer token, from the headers of a request alone, before its body is read.

Static tokens are looked up first, because that is cheap; then those of the authorization server, if there is one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from mcpc_runtime.http.auth.oauth import OAuth
from mcpc_runtime.http.auth.token_file import TokenFile
from mcpc_runtime.http.auth.tokens import MalformedHeaderError, Tokens, bearer_token
from mcpc_runtime.http.principals import Authenticated, Denied, Principal, challenge, deny
from mcpc_runtime.http.replies import Client, Pairs

UNKNOWN = "unknown token"


class TokenAuthenticator:
    """The `Authenticator` of static tokens and of an authorization server's tokens."""

    def __init__(
        self, tokens: Tokens | None = None, oauth: OAuth | None = None, watched: TokenFile | None = None
    ) -> None:
        self._tokens = tokens
        self._oauth = oauth
        self.watched = watched
        self.address: Callable[[Client, Pairs], str] = lambda client, _: str(client[0]) if client else ""

    def check(self, headers: Pairs, path: str, client: Client = None) -> Authenticated | Awaitable[Authenticated]:
        """Return the principal of a request, or its denial; `headers` and `client` are as ASGI has them."""
        try:
            token = bearer_token(headers)
        except MalformedHeaderError as problem:
            return deny(400, self._challenge(path, "invalid_request", str(problem)), "invalid_request", str(problem))
        if not token:  # the challenge has no error then (RFC 6750, section 3.1)
            return deny(401, self._challenge(path))
        principal = self._tokens.find(token) if self._tokens is not None else None
        if principal is not None:
            return principal
        if self._oauth is not None:
            return self._oauth.check(token, path, lambda: self.address(client, headers) if client else "")
        return deny(401, self._challenge(path, "invalid_token", UNKNOWN), "invalid_token", UNKNOWN)

    def permit(self, principal: Principal, method: str, name: str, path: str = "") -> Denied | None:
        """Return the denial of a request that needs scopes which the token does not grant, None if it is granted."""
        if self._oauth is None or method != "tools/call":
            return None
        return self._oauth.permit(principal, name, path)

    def named_tools(self) -> Iterator[tuple[str, str]]:
        """Yield each principal whose token names tools, with each name: such a tool should exist."""
        if self._tokens is not None:
            yield from self._tokens.named_tools()

    def document(self, path: str) -> bytes | None:
        """Return the public metadata at a well-known path, None if there is none there (RFC 9728)."""
        return None if self._oauth is None else self._oauth.documents.get(path)

    def _challenge(self, path: str, error: str = "", description: str = "") -> str:
        if self._oauth is not None:
            return self._oauth.resource(path).challenge(error, description)
        return challenge(error=error, error_description=description)
