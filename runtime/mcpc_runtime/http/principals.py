"""The result of authentication: the `Principal` of a request with the tools it may call, or `Denied` with the reply."""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.http.replies import PROTECTED, Pairs, Reply
from mcpc_runtime.protocol.jsonrpc import Json, encode
from mcpc_runtime.protocol.tool_choice import matches

REASONS = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 503: "Service Unavailable"}
RETRY_SECONDS = b"5"
SEND_TOKEN = "send a bearer token in the Authorization header"


class Principal:
    """The owner of requests: a user, or a client.

    `name`: the same for all of its requests, and not a secret.  `allows`: the tools that it may see and call, all if
    None.  `scopes`: what its token grants, None if the token has no scopes.  `expires`: when the token expires, in
    seconds since the epoch, None if it does not.
    """

    __slots__ = ("allows", "expires", "name", "scopes")

    def __init__(
        self,
        name: str,
        allows: Callable[[str], bool] | None = None,
        scopes: frozenset[str] | None = None,
        expires: float | None = None,
    ) -> None:
        self.name = name
        self.allows = allows
        self.scopes = scopes
        self.expires = expires


ANONYMOUS = Principal("")
"""The principal of every request where no authenticator is configured."""


class Denied:
    """The reply to a request that is not allowed."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Pairs, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def reply(self) -> Reply:
        """The reply as it is sent."""
        return self.status, [*PROTECTED, *self.headers], self.body


def deny(status: int, challenge: str = "", error: str = "", description: str = "") -> Denied:
    """Return a denial with a challenge, if there is one, and the reason as JSON (RFC 6750, section 3)."""
    value: dict[str, Json] = {"error": error or REASONS[status]}
    if description or status == 401:
        value["error_description"] = description or SEND_TOKEN
    headers = [(b"content-type", b"application/json")]
    if challenge:
        headers.append((b"www-authenticate", challenge.encode("ascii")))
    if status == 503:
        headers.append((b"retry-after", RETRY_SECONDS))
    return Denied(status, headers, encode(value))


Authenticated = Principal | Denied


class MisconfiguredError(Exception):
    """The configuration is invalid or unsafe; the message names the setting, and contains no secret."""


class NotBundledError(MisconfiguredError):
    """The configuration needs a package that is not bundled."""


class InvalidTokenError(Exception):
    """A token is not accepted; the message is the reason for the client."""


class UnavailableError(Exception):
    """A token cannot be verified now; this is not the holder's fault."""


class AllowedTools:
    """The tools that a principal may call: names, where `*` matches any characters. Equal patterns are equal tools."""

    __slots__ = ("patterns",)

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self.patterns = patterns

    def __call__(self, name: str) -> bool:
        """Tell whether this tool is among them."""
        return any(matches(pattern, name) for pattern in self.patterns)

    def __eq__(self, other: object) -> bool:
        """Tell whether they are the same tools."""
        return isinstance(other, AllowedTools) and other.patterns == self.patterns

    def __hash__(self) -> int:
        """Return the same number for equal tools."""
        return hash(self.patterns)


def challenge(**parameters: str) -> str:
    """Return the challenge for a bearer token; parameters without a value are omitted."""
    # Nothing is escaped: scopes and addresses were checked for quotes, and all other texts are the server's own.
    parameters_text = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
    return f"Bearer {parameters_text}" if parameters_text else "Bearer"
