"""Who may call, decided from a request's headers alone, before anything of its body is read.

Our own tokens first, for they cost nothing to look up; then those of the authorization server, if there is one.
"""

from __future__ import annotations

from mcpc_runtime.http.auth.bearer import MalformedError, bearer_token
from mcpc_runtime.http.auth.principals import challenge, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Any

    from mcpc_runtime.http.auth.oauth import OAuth
    from mcpc_runtime.http.auth.principals import Headers, Principal, Refusal
    from mcpc_runtime.http.auth.token_file import TokenFile
    from mcpc_runtime.http.auth.tokens import Tokens
    from mcpc_runtime.http.replies import Client

WRONG = "nobody has this token"


class Authenticator:
    """Lets in whoever brings a token that is known.

    `watched`: the file that our own tokens come from, if one does; `address`: returns that of a client, given the other
    end of the connection and a request's headers.
    """

    def __init__(
        self, tokens: Tokens | None = None, oauth: OAuth | None = None, watched: TokenFile | None = None
    ) -> None:
        self._tokens = tokens
        self._oauth = oauth
        self.watched = watched
        self.address: Callable[[Any, Headers], str] = lambda client, _: str(client[0])

    def check(
        self, headers: Headers, path: str, client: Client = None
    ) -> Principal | Refusal | Awaitable[Principal | Refusal]:
        """Return on whose behalf a request is, or its refusal; `headers` and `client` are as ASGI has them."""
        try:
            token = bearer_token(headers)
        except MalformedError as problem:
            return refusal(400, self._challenge(path, "invalid_request", str(problem)), "invalid_request", str(problem))
        if not token:
            return refusal(401, self._challenge(path))
        found = self._tokens.find(token) if self._tokens is not None else None
        if found is not None:
            return found
        if self._oauth is not None:
            return self._oauth.check(token, path, lambda: self.address(client, headers) if client else "")
        return refusal(401, self._challenge(path, "invalid_token", WRONG), "invalid_token", WRONG)

    def permit(self, principal: Principal, method: str, name: str, path: str = "") -> Refusal | None:
        """Return the answer to a request that needs scopes which a token does not grant, None if it may go on."""
        if self._oauth is None or method != "tools/call":
            return None
        return self._oauth.permit(principal, name, path)

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield who may call a tool that is named, and its name: there should be one."""
        if self._tokens is not None:
            yield from self._tokens.named()

    def document(self, path: str) -> bytes | None:
        """Return what lies at a well-known path, for everybody: where tokens come from (RFC 9728)."""
        return None if self._oauth is None else self._oauth.documents.get(path)

    def _challenge(self, path: str, error: str = "", says: str = "") -> str:
        if self._oauth is not None:
            return self._oauth.resource(path).challenge(error, says)
        return challenge(error=error, error_description=says)
