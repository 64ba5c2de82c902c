"""Authorization: classes that a project may subclass and make; no request reaches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcpc_runtime.systems.fastmcp.engine.server import current_call, token_fields


class Fields:
    """A record with the fields that it is made with."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return None


class OAuthToken(Fields):
    """A token."""


class OAuthClientMetadata(Fields):
    """What a client is registered with."""


class OAuthClientInformationFull(OAuthClientMetadata):
    """A registered client."""


class OAuthMetadata(Fields):
    """What a server that gives tokens offers."""


class ProtectedResourceMetadata(Fields):
    """Which server gives tokens."""


AuthorizationCodeT = TypeVar("AuthorizationCodeT")
RefreshTokenT = TypeVar("RefreshTokenT")
AccessTokenT = TypeVar("AccessTokenT")


class AccessToken(Fields):
    """A token of a client."""


class RefreshToken(Fields):
    """A token to get others."""


class AuthorizationCode(Fields):
    """A code to get a token."""


class AuthorizationParams(Fields):
    """What a client asks for."""


class TokenError(Exception):
    """A token is not given."""


class AuthorizeError(Exception):
    """A client is not authorized."""


class RegistrationError(Exception):
    """A client is not registered."""


class TokenVerifier:
    """Checks tokens."""


class OAuthAuthorizationServerProvider(Generic[AuthorizationCodeT, RefreshTokenT, AccessTokenT]):
    """Gives tokens to clients."""


class ProviderTokenVerifier(TokenVerifier):
    """Checks the tokens of a provider."""

    def __init__(self, provider: Any) -> None:
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

    issuer_url: Any
    resource_server_url: Any = None
    service_documentation_url: Any = None
    client_registration_options: ClientRegistrationOptions | None = None
    revocation_options: RevocationOptions | None = None
    required_scopes: list[str] | None = None
    validate_token_resource: bool | None = None


def create_auth_routes(*_: object, **__: object) -> list[Any]:
    return []


def create_protected_resource_routes(*_: object, **__: object) -> list[Any]:
    """Return no routes: the built server has this one."""
    return []


def get_access_token() -> AccessToken | None:
    """Return the token of the call that the built server has accepted, None if it asks for none."""
    fields = token_fields(current_call.get())
    return None if fields is None else AccessToken(**fields)


class Accepting:
    """Accepts what it is made with."""

    def __init__(self, *_: object, **__: object) -> None:
        pass


class AuthenticatedUser(Accepting):
    """A user with a token."""


class BearerAuthBackend(Accepting):
    """Checks the tokens of requests."""


class RequireAuthMiddleware(Accepting):
    """Refuses requests without a token."""
