"""Authentication, client addresses and origins of bx-mcp's endpoint, from `boxlang.json` and the settings.

Tokens that are configured when it is served replace the project's.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from mcpc_runtime.http.auth.authenticator import TokenAuthenticator
from mcpc_runtime.http.auth.tokens import MIN_TOKEN_LENGTH, Tokens
from mcpc_runtime.http.origins import parse_origin
from mcpc_runtime.http.principals import MisconfiguredError, Principal
from mcpc_runtime.http.replies import Pairs
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.tool_choice import ToolSelection

KEY_HEADER, AUTHORIZATION = b"x-api-key", b"authorization"
SCHEME = b"Bearer "
LOOPBACK = ("127.0.0.1/32", "::1/128")
"""The allowed client addresses if the project configures none."""
ALL_TOOLS = (("*",), ())
INDEX_KEY = "bx"
"""The key of the index for the content of `boxlang.json`."""


def build_authenticator(settings: Mapping[str, Any], environment: Mapping[str, str]) -> TokenAuthenticator | None:
    """Return the authenticator, None if the project has no token; raise MisconfiguredError."""
    entries: dict[bytes, Principal] = {}
    for number, (kind, value, tools) in enumerate(settings["tokens"], 1):
        digest = bytes.fromhex(value) if kind == "digest" else token_digest(value, environment)
        if digest in entries:
            raise MisconfiguredError(f"two tokens of boxlang.json are the same, the second is number {number}")
        entries[digest] = Principal(f"token {number}", None if tools == ALL_TOOLS else ToolSelection(tools))
    return TokenAuthenticator(Tokens(tuple(entries.items()))) if entries else None


def authenticator_of(image: Image, environment: Mapping[str, str]) -> TokenAuthenticator | None:
    """Return the authenticator for the tokens of `boxlang.json` (hook `authenticator`)."""
    return build_authenticator(image.index[INDEX_KEY], environment)


def allowed_addresses(image: Image) -> tuple[str, ...]:
    """Return the addresses that may call (hook `allowed_addresses`)."""
    return tuple(image.index[INDEX_KEY]["allowed"] or ())


def path_option(settings: HttpSettings) -> tuple[str, str]:
    """Return the option for the endpoint's path, and its value (hook `http_paths`)."""
    return "--bx-path", settings.bx_path


def refuse_beside(other: Image, image: Image) -> str:
    """Return why a server cannot be served together with another one, or nothing (hook `refuse_beside`)."""
    if other.index[INDEX_KEY] == image.index.get(INDEX_KEY):
        return ""
    return "has a boxlang.json of its own, which says who may call it: serve it by itself"


def token_digest(variable: str, environment: Mapping[str, str]) -> bytes:
    """Return the digest of the token in a variable; raise MisconfiguredError for a missing or weak token."""
    token = environment.get(variable, "").strip()
    if not token:
        raise MisconfiguredError(f"boxlang.json wants a token from the variable {variable}, which is not set")
    if len(token) < MIN_TOKEN_LENGTH or not token.isascii():
        rule = f"a token has {MIN_TOKEN_LENGTH} characters or more, and nobody can guess it"
        raise MisconfiguredError(f"the variable {variable} has no good token: {rule}")
    return sha256(token.encode("ascii")).digest()


def with_api_key(pairs: Pairs) -> Pairs:
    """Return the headers of a request with its X-API-Key as bearer token, unless it has one."""
    names = [name for name, _ in pairs]
    if KEY_HEADER not in names or AUTHORIZATION in names:
        return pairs
    return [*pairs, *((AUTHORIZATION, SCHEME + value.strip()) for name, value in pairs if name == KEY_HEADER)]


class Origins:
    """Allowed origins: an origin, `*.dom` for all below a domain, `*` for every page that has an origin."""

    __slots__ = ("_patterns",)

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns

    def __contains__(self, header: bytes) -> bool:
        """Tell whether an origin is allowed; `null` is not an origin."""
        text = header.decode("latin-1").lower()
        origin = parse_origin(text)
        return origin is not None and any(matches_origin(pattern, text, origin) for pattern in self._patterns)


def matches_origin(pattern: str, text: str, origin: tuple[str, str, int]) -> bool:
    """Tell whether an origin (scheme, host, port) matches a pattern."""
    if pattern == "*":
        return True
    scheme, slashes, rest = pattern.partition("://")
    if not slashes:
        scheme, rest = "", pattern
    if not rest.startswith("*."):
        return parse_origin(pattern) == origin
    # With its dot, so that `*.example.com` does not allow `badexample.com`.
    host, _, port = rest[1:].partition(":")
    is_right = (not scheme or scheme == origin[0]) and (not port or int(port) == origin[2])
    return is_right and origin[1].endswith(host) and len(origin[1]) > len(host)
