"""What functions ask for outside of their parameters: the context, the HTTP request, tokens; authentication.

A project may make the classes of authentication, but the built server itself checks who calls it.
"""

from __future__ import annotations

from functools import cache

from mcpc_runtime.systems.fastmcp.engine import injection
from mcpc_runtime.systems.fastmcp.engine.context import BaseContext, current_context
from mcpc_runtime.systems.fastmcp.engine.injection import FunctionDependency, required_context
from mcpc_runtime.systems.fastmcp.engine.server import note, token_fields
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Call, Function
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.auth import Fields
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.requests import HTTPRequest, http_request


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


OWN_HEADERS: dict[tuple[int, ...], tuple[str, ...]] = {
    (2,): (
        *("host", "content-length", "connection", "transfer-encoding", "upgrade", "te", "keep-alive", "expect"),
        *("proxy-authenticate", "proxy-authorization", "proxy-connection", "accept"),
    ),
    (2, 11): ("mcp-session-id",),
    (3,): ("content-type",),
    (3, 1): ("authorization",),
    (4,): ("trailer", "mcp-protocol-version"),
}
"""The headers that say something of the connection, by the version that keeps them from being sent on."""


def get_context() -> BaseContext:
    return required_context()


def get_server() -> object:
    return required_context().fastmcp


def get_http_request() -> HTTPRequest:
    """Return the current HTTP request; RuntimeError: there is none."""
    found = current_context()
    request = http_request(found._call) if found is not None and found._call is not None else None
    if request is None:
        raise RuntimeError("No active HTTP request found.")
    return request


def get_http_headers(include_all: bool = False, include: set[str] | None = None) -> dict[str, str]:
    """Return the headers of the current HTTP request; none over stdio."""
    found = current_context()
    headers = found._call.headers if found is not None and found._call is not None else {}
    lower = {name.lower(): value for name, value in headers.items()}
    if include_all:
        return lower
    left_out = {name for since, names in OWN_HEADERS.items() if selected().at_least(*since) for name in names}
    left_out -= {name.lower() for name in include or ()}
    return {name: value for name, value in lower.items() if name not in left_out}


def get_access_token() -> AccessToken | None:
    """Return the token of the call that the built server has accepted; None if it asks for none."""
    found = current_context()
    return access_token(found._call) if found is not None and found._call is not None else None


def CurrentRequest() -> object:  # noqa: N802 - the framework's name
    return FunctionDependency(get_http_request)


def CurrentHeaders() -> object:  # noqa: N802 - the framework's name
    """Stand for the headers of the current HTTP request."""
    # From FastMCP 3.1 on the function leaves this header out, but the dependency has it.
    return FunctionDependency(lambda: get_http_headers(include={"authorization"}))


def OptionalCurrentContext() -> object:  # noqa: N802 - the framework's name
    """Stand for the current context, or None."""
    return FunctionDependency(current_context)


def required_token() -> AccessToken:
    """Return the token of the call; raise what a call without one raises."""
    found = get_access_token()
    if found is None:
        raise RuntimeError(
            "No access token found. Ensure authentication is configured and the request is authenticated."
        )
    return found


def CurrentAccessToken() -> object:  # noqa: N802 - the framework's name
    return FunctionDependency(required_token)


def TokenClaim(name: str) -> object:  # noqa: N802 - the framework's name
    return FunctionDependency(lambda: claim_of(required_token(), name))


def claim_of(token: AccessToken, name: str) -> object:
    """Return a claim of a token; RuntimeError: it has none of this name."""
    if name not in token.claims:
        raise RuntimeError(f"Claim {name!r} not found in access token. Available claims: {list(token.claims)}")
    return token.claims[name]


Depends = injection.Depends
CurrentContext = injection.CurrentContext
CurrentFastMCP = injection.CurrentFastMCP
