"""Who may come in: tokens of the project, addresses, and origins, as `boxlang.json` says and serving may change.

Tokens that are given when it is served take the place of the project's.
"""

from __future__ import annotations

from mcpc_runtime.http.auth.authenticator import Authenticator
from mcpc_runtime.http.auth.principals import MisconfiguredError, Principal
from mcpc_runtime.http.auth.tokens import LEAST, Tokens
from mcpc_runtime.http.guard import origin as parsed_origin
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.globs import Tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from hashlib import sha256
    from typing import Any

    from mcpc_runtime.http.replies import Pairs
else:
    sha256 = lazy("hashlib:sha256")

KEY_HEADER, AUTHORIZATION = b"x-api-key", b"authorization"
SCHEME = b"Bearer "
LOOPBACK = ("127.0.0.1/32", "::1/128")
"""Who may ask where the project does not say."""
EVERYTHING = (("*",), ())


def authenticator(settings: Mapping[str, Any], environment: Mapping[str, str]) -> Authenticator | None:
    """Return what lets clients in, None if the project has no token; raise MisconfiguredError."""
    entries: dict[bytes, Principal] = {}
    for number, (kind, value, tools) in enumerate(settings["tokens"], 1):
        digest = bytes.fromhex(value) if kind == "digest" else digest_of(value, environment)
        if digest in entries:
            raise MisconfiguredError(f"two tokens of boxlang.json are the same, the second is number {number}")
        entries[digest] = Principal(f"token {number}", None if tools == EVERYTHING else Tools(tools))
    return Authenticator(Tokens(tuple(entries.items()))) if entries else None


def digest_of(variable: str, environment: Mapping[str, str]) -> bytes:
    """Return the digest of the token that a variable has."""
    token = environment.get(variable, "").strip()
    if not token:
        raise MisconfiguredError(f"boxlang.json wants a token from the variable {variable}, which is not set")
    if len(token) < LEAST or not token.isascii():
        words = f"a token has {LEAST} characters or more, and nobody can guess it"
        raise MisconfiguredError(f"the variable {variable} has no good token: {words}")
    made: bytes = sha256(token.encode("ascii")).digest()
    return made


def credentials(pairs: Pairs) -> Pairs:
    """Return the headers of a request with its key in the place that is looked at, if it has none there."""
    names = [name for name, _ in pairs]
    if KEY_HEADER not in names or AUTHORIZATION in names:
        return pairs
    return [*pairs, *((AUTHORIZATION, SCHEME + value.strip()) for name, value in pairs if name == KEY_HEADER)]


class Origins:
    """Whose pages may call: origins, `*.dom` for all below a domain, `*` for every page that has an origin."""

    __slots__ = ("_patterns",)

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns

    def __contains__(self, given: bytes) -> bool:
        """Tell whether pages of an origin may call; `null` is the origin of none."""
        text = given.decode("latin-1").lower()
        found = parsed_origin(text)
        return found is not None and any(fits(pattern, text, found) for pattern in self._patterns)


def fits(pattern: str, text: str, found: tuple[str, str, int]) -> bool:
    """Tell whether an origin, which is scheme, host and port, is one that a pattern stands for."""
    if pattern == "*":
        return True
    scheme, slashes, rest = pattern.partition("://")
    if not slashes:
        scheme, rest = "", pattern
    if not rest.startswith("*."):
        return parsed_origin(pattern) == found
    host, _, port = rest[1:].partition(":")
    is_right = (not scheme or scheme == found[0]) and (not port or int(port) == found[2])
    return is_right and found[1].endswith(host) and len(found[1]) > len(host)
