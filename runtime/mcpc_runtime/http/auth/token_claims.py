"""The claims of a verified token: times, audience, principal and scopes."""

from __future__ import annotations

from collections.abc import Mapping

from mcpc_runtime.http.principals import InvalidTokenError, Principal
from mcpc_runtime.protocol.jsonrpc import Json

Claims = dict[str, Json]


LEEWAY_SECONDS = 60.0
"""The accepted difference between the clocks of two machines."""
MAX_NAME_LENGTH = 512
SUBJECTS = ("sub", "client_id", "azp", "username")
SCOPES = ("scope", "scp")


def check_times(claims: Claims, now: float) -> None:
    """Raise InvalidTokenError if a token is not valid at this time."""
    for name in ("exp", "nbf", "iat"):
        if name in claims and timestamp(claims[name]) is None:
            raise InvalidTokenError(f"its `{name}` is not a number")
    ends, begins, issued = (timestamp(claims.get(name)) for name in ("exp", "nbf", "iat"))
    if ends is not None and ends <= now - LEEWAY_SECONDS:
        raise InvalidTokenError("the token has expired")
    if (begins or 0) > now + LEEWAY_SECONDS or (issued or 0) > now + LEEWAY_SECONDS:
        raise InvalidTokenError("the token is not valid yet")


def timestamp(value: Json) -> float | None:
    """Return a time, None for a value that is not one."""
    # The bound keeps out infinities, NaN and integers that a float cannot hold.
    return float(value) if type(value) in (int, float) and abs(value) < 1e15 else None  # type: ignore[arg-type]


def check_audience(claims: Claims, audiences: frozenset[str]) -> None:
    """Raise InvalidTokenError if a token was not issued for this server (RFC 8707)."""
    audience = claims.get("aud")
    # `aud` is a text or a list of them (RFC 7519, section 4.1.3).
    names = [audience] if type(audience) is str else audience
    if type(names) is not list or not any(type(name) is str and name in audiences for name in names):
        raise InvalidTokenError("the token is not for this server")


def principal_of(claims: Claims, issuer: str, implied: Mapping[str, tuple[str, ...]]) -> Principal:
    """Return the principal of a token; a user and a client with the same name are different principals."""
    claim = next((name for name in SUBJECTS if claims.get(name)), "")
    subject = claims.get(claim)
    if type(subject) is not str or len(subject) > MAX_NAME_LENGTH:
        raise InvalidTokenError("the token does not say whose it is")
    return Principal(
        f"{issuer} {claim}={subject}", None, closure(granted_scopes(claims), implied), timestamp(claims.get("exp"))
    )


def granted_scopes(claims: Claims) -> set[str]:
    """Return the scopes of a token, which are one string with spaces or a list."""
    scopes: set[str] = set()
    for name in SCOPES:
        value = claims.get(name)
        items = value.split() if type(value) is str else value
        if type(items) is list:
            scopes.update(item for item in items if type(item) is str)
    return scopes


def closure(scopes: set[str], implied: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return scopes with all that they imply."""
    todo = list(scopes)
    while todo:
        for scope in implied.get(todo.pop(), ()):
            if scope not in scopes:
                scopes.add(scope)
                todo.append(scope)
    return frozenset(scopes)
