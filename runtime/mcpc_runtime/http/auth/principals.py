"""What becomes of a request's credentials: a principal, on whose behalf it is, or a refusal, which is its answer."""

from __future__ import annotations

from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.jsonrpc import Json

    Headers = list[tuple[bytes, bytes]]

WORDS = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 503: "Service Unavailable"}
RETRY_SECONDS = b"5"
SEND_TOKEN = "send a bearer token in the Authorization header"


class MisconfiguredError(Exception):
    """What was chosen cannot be followed, or is not safe; the message says what, and never a secret."""


class NotCarriedError(MisconfiguredError):
    """What was chosen needs a package that this file does not carry."""


class InvalidTokenError(Exception):
    """A token is not accepted; the message, which says why, is for the client."""


class UnavailableError(Exception):
    """Nobody can say now whether a token is good: not its holder's fault."""


class Tools:
    """Which tools somebody may call: names, in which `*` stands for any characters.  Equal patterns are equal tools."""

    __slots__ = ("_parts", "patterns")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self.patterns = patterns
        self._parts = [pattern.split("*") for pattern in patterns]

    def __call__(self, name: str) -> bool:
        """Tell whether this tool is among them."""
        return any(matches(parts, name) for parts in self._parts)

    def __eq__(self, other: object) -> bool:
        """Tell whether they are the same tools."""
        return isinstance(other, Tools) and other.patterns == self.patterns

    def __hash__(self) -> int:
        """Return the same number for equal tools."""
        return hash(self.patterns)


def matches(parts: list[str], name: str) -> bool:
    """Tell whether a name is these parts with anything between two of them.

    The leftmost place of each part will do, so there is nothing to go back to, however a client chooses the name.
    """
    if len(parts) == 1:
        return name == parts[0]
    first, last = parts[0], parts[-1]
    at, end = len(first), len(name) - len(last)
    if at > end or not name.startswith(first) or not name.endswith(last):
        return False
    for part in parts[1:-1]:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


class Principal:
    """Somebody who is let in.

    `name`: the same for each request of theirs, and no secret.  `allows`: which tools they may see and call, all if
    None.  `scopes`: what their token grants, None if it has no such thing.  `expires`: when it ends, in seconds of the
    epoch, None if it does not.
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


class Refusal:
    """The answer to a request that is not let in."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


def refusal(status: int, challenge: str = "", error: str = "", says: str = "") -> Refusal:
    """Return an answer with a challenge, if there is one, and why as JSON (RFC 6750, section 3)."""
    value: dict[str, Json] = {"error": error or WORDS[status]}
    if says or status == 401:
        value["error_description"] = says or SEND_TOKEN
    headers = [(b"content-type", b"application/json")]
    if challenge:
        headers.append((b"www-authenticate", challenge.encode("ascii")))
    if status == 503:
        headers.append((b"retry-after", RETRY_SECONDS))
    return Refusal(status, headers, encode(value))


def challenge(**parameters: str) -> str:
    """Return a challenge to send a bearer token; parameters without a value are left out."""
    written = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
    return f"Bearer {written}" if written else "Bearer"
