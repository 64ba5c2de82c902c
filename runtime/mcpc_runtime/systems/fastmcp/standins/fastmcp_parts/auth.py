"""Classes of authentication: a project may make them, but the built server itself checks who calls it."""

from __future__ import annotations

from functools import cache

from mcpc_runtime.systems.fastmcp.engine.server import note, token_fields
from mcpc_runtime.systems.fastmcp.interfaces import Call, Function
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.auth import Fields


class AccessToken(Fields):
    """A token and what it permits."""

    def __init__(self, **values: object) -> None:
        super().__init__(**{"scopes": [], "claims": {}, **values})


def access_token(call: Call | None) -> AccessToken | None:
    fields = token_fields(call)
    return None if fields is None else AccessToken(**fields)


class Accepted:
    """Anything of authentication: it is accepted, and noted."""

    def __init__(self, *arguments: object, **options: object) -> None:
        note(f"`{type(self).__name__}` has no effect in a built server, {instead_of(type(self).__name__)}")
        self.__dict__.update({name: value for name, value in options.items() if name.isidentifier()})
        self.required_scopes = options.get("required_scopes") or []

    async def verify_token(self, token: str) -> None:
        return

    def get_routes(self, *_: object, **__: object) -> list[object]:
        return []

    get_middleware = get_well_known_routes = get_routes

    def set_mcp_path(self, *_: object) -> None:
        """Do nothing."""


INSTEAD = {
    "StaticTokenVerifier": "which is given its tokens with `--token-file`",
    "JWTVerifier": "which is given the issuer of tokens with `--issuer`",
    "IntrospectionTokenVerifier": "which is given the issuer of tokens with `--issuer`",
    "RemoteAuthProvider": "which is given the authorization server with `--issuer`",
}
"""What a built server has in the place of a class of authentication."""


def instead_of(name: str) -> str:
    """Return what a built server has in the place of a class of authentication."""
    return INSTEAD.get(name, "whose options `--token-file` and `--issuer` say who may call it")


@cache
def accepted(name: str) -> type:
    return type(name, (Accepted,), {"__doc__": "Authentication, which the built server does itself."})


def require_scopes(*_: str) -> Function:
    """Return a check that permits everything."""
    return lambda *_, **__: True


restrict_tag = require_auth = require_scopes


def __getattr__(name: str) -> type:
    if name.startswith("_"):
        raise AttributeError(name)
    return accepted(name)
