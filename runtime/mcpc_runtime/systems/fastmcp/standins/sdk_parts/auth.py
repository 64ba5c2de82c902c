"""Authorization: classes that a project may subclass and make; no request reaches them.

A name that has no definition here is a record of the fields that it is made with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from mcpc_runtime.systems.fastmcp.engine.server import current_call, token_fields


class Fields:
    """A record with the fields that it is made with."""

    def __init__(self, *_: object, **fields: object) -> None:
        vars(self).update(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return None


AuthorizationCodeT = TypeVar("AuthorizationCodeT")
RefreshTokenT = TypeVar("RefreshTokenT")
AccessTokenT = TypeVar("AccessTokenT")


class AccessToken(Fields):
    """A token of a client."""


class TokenVerifier:
    """Checks tokens."""


class OAuthAuthorizationServerProvider(Generic[AuthorizationCodeT, RefreshTokenT, AccessTokenT]):
    """Gives tokens to clients."""


class ProviderTokenVerifier(TokenVerifier):
    """Checks the tokens of a provider."""

    def __init__(self, provider: object) -> None:
        self.provider = provider


@dataclass(kw_only=True)
class ClientRegistrationOptions:
    """How clients register themselves."""

    enabled: bool = False
    client_secret_expiry_seconds: int | None = None
    valid_scopes: list[str] | None = None
    default_scopes: list[str] | None = None


@dataclass(kw_only=True)
class RevocationOptions:
    """How tokens are revoked."""

    enabled: bool = False


@dataclass(kw_only=True)
class AuthSettings:
    """Who issues the tokens of a server."""

    issuer_url: object
    resource_server_url: object = None
    service_documentation_url: object = None
    client_registration_options: ClientRegistrationOptions | None = None
    revocation_options: RevocationOptions | None = None
    required_scopes: list[str] | None = None
    validate_token_resource: bool | None = None


def create_auth_routes(*_: object, **__: object) -> list[object]:
    """Return no routes: the built server has its own."""
    return []


create_protected_resource_routes = create_auth_routes


def get_access_token() -> AccessToken | None:
    """Return the token of the call that the built server has accepted, None if it asks for none."""
    fields = token_fields(current_call.get())
    return None if fields is None else AccessToken(**fields)


@cache
def record(name: str) -> type:
    base: type = Exception if name.endswith("Error") else Fields
    return type(name, (base,), {"__module__": __name__})


def __getattr__(name: str) -> type:
    if name.startswith("_"):
        raise AttributeError(name)
    return record(name)
