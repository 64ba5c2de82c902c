"""The claims of a verified token: times, audience, principal and scopes."""

from __future__ import annotations

from mcpc_runtime.http.auth.principals import InvalidTokenError
from mcpc_runtime.http.principals import Principal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc_runtime.protocol.jsonrpc import Json

    Claims = dict[str, Json]

LEEWAY_SECONDS = 60.0
"""How far the clocks of two machines may be apart."""
MAX_NAME_LENGTH = 512
SUBJECTS = ("sub", "client_id", "azp", "username")
SCOPES = ("scope", "scp")


def check_times(claims: Claims, now: float) -> None:
    """Raise InvalidTokenError if it is not the time at which a token holds."""
    for name in ("exp", "nbf", "iat"):
        if name in claims and timestamp(claims[name]) is None:
            raise InvalidTokenError(f"its `{name}` is not a number")
    ends, begins, made = (timestamp(claims.get(name)) for name in ("exp", "nbf", "iat"))
    if ends is not None and ends <= now - LEEWAY_SECONDS:
        raise InvalidTokenError("the token has expired")
    if (begins or 0) > now + LEEWAY_SECONDS or (made or 0) > now + LEEWAY_SECONDS:
        raise InvalidTokenError("the token is not valid yet")


def timestamp(value: Json) -> float | None:
    """Return a time, None for a value that is not one."""
    return float(value) if type(value) in (int, float) and abs(value) < 1e15 else None  # type: ignore[arg-type]


def check_audience(claims: Claims, audiences: frozenset[str]) -> None:
    """Raise InvalidTokenError if a token was not issued for this server (RFC 8707)."""
    given = claims.get("aud")
    named = [given] if type(given) is str else given
    if type(named) is not list or not any(type(one) is str and one in audiences for one in named):
        raise InvalidTokenError("the token is not for this server")


def principal_of(claims: Claims, issuer: str, implied: Mapping[str, tuple[str, ...]]) -> Principal:
    """Return on whose behalf a token speaks: a user and a client of one name are two principals."""
    claim = next((name for name in SUBJECTS if claims.get(name)), "")
    subject = claims.get(claim)
    if type(subject) is not str or len(subject) > MAX_NAME_LENGTH:
        raise InvalidTokenError("the token does not say whose it is")
    return Principal(
        f"{issuer} {claim}={subject}", None, closure(granted_scopes(claims), implied), timestamp(claims.get("exp"))
    )


def granted_scopes(claims: Claims) -> set[str]:
    """Return the scopes of a token: words of one string, or a list of strings."""
    found: set[str] = set()
    for name in SCOPES:
        value = claims.get(name)
        words = value.split() if type(value) is str else value
        found.update(word for word in words if type(word) is str) if type(words) is list else None
    return found


def closure(scopes: set[str], implied: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return scopes with all that they imply."""
    todo = list(scopes)
    while todo:
        for scope in implied.get(todo.pop(), ()):
            if scope not in scopes:
                scopes.add(scope)
                todo.append(scope)
    return frozenset(scopes)
