"""Create the authenticator that the settings describe; everything is read and checked before the server listens.

Secrets are in files, or in variables: MCPC_TOKENS has the contents of a token file, and MCPC_INTROSPECT_CREDENTIALS the
ID:SECRET of the introspection client.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from mcpc_runtime.http.auth.authenticator import TokenAuthenticator
from mcpc_runtime.http.auth.http_client import checked_url
from mcpc_runtime.http.auth.introspection import Introspection
from mcpc_runtime.http.auth.jwt import SignedTokenVerifier, keys_from
from mcpc_runtime.http.auth.oauth import OAuth, Resource, Scopes, Verifier
from mcpc_runtime.http.auth.token_file import TokenFile, read_secret
from mcpc_runtime.http.auth.tokens import Tokens, tokens_from
from mcpc_runtime.http.principals import MisconfiguredError
from mcpc_runtime.http.settings import HttpSettings

TOKENS, CREDENTIALS = "MCPC_TOKENS", "MCPC_INTROSPECT_CREDENTIALS"
NOT_QUOTED = frozenset('"\\ ')
"""Characters that must not be in a quoted address of a challenge."""
ONLY_WITH_ISSUER = ("audience", "jwks", "algorithms", "scopes", "introspect", "introspect_client_file")


def authenticator(
    settings: HttpSettings, environment: Mapping[str, str], *, hides: bool = False
) -> TokenAuthenticator | None:
    """Return the configured authenticator, None if none is configured; raise MisconfiguredError."""
    watched = TokenFile(settings.token_file) if settings.token_file else None
    tokens = tokens_of_environment(environment) if watched is None else watched.tokens
    if not settings.issuer:
        idle = [name for name in ONLY_WITH_ISSUER if getattr(settings, name)]
        if idle:
            raise MisconfiguredError(f"{idle[0].replace('_', ' ')} without an issuer: who issues the tokens?")
        return None if tokens is None else TokenAuthenticator(tokens, watched=watched)
    return TokenAuthenticator(tokens, oauth(settings, environment, hides), watched)


def tokens_of_environment(environment: Mapping[str, str]) -> Tokens | None:
    """Return the static tokens of the environment, None if there are none."""
    text = environment.get(TOKENS)
    return None if text is None else tokens_from(text, TOKENS)


def oauth(settings: HttpSettings, environment: Mapping[str, str], hides: bool) -> OAuth:
    """Return the resource server that accepts the tokens of an authorization server."""
    issuer = checked_url(settings.issuer, "the issuer")
    scopes = Scopes(settings.scopes)
    verifier = verifier_of(settings, environment, issuer)
    resources = {path: resource(settings, path, issuer, scopes) for path in (settings.path, *dict(settings.also))}
    return OAuth(issuer, verifier, resources, scopes, hides=hides)


def resource(settings: HttpSettings, path: str, issuer: str, scopes: Scopes) -> Resource:
    """Return an endpoint as a resource, with the URL that clients use."""
    url = settings.url or settings.audience
    if not url.startswith(("https://", "http://")):
        if not settings.port:
            raise MisconfiguredError("tokens are issued for an address: say which one with --url")
        # Without a public address the one that the server listens on is the resource; port 0 is not known yet.
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{settings.port}{settings.path}"
    if not url.isascii() or set(url) & NOT_QUOTED:
        raise MisconfiguredError(
            "clients are told the endpoint's address in a header: write it with %XX, as they send it"
        )
    if path != settings.path:
        parts = urlsplit(url)
        url = f"{parts.scheme}://{parts.netloc}{path}"
    endpoint = Resource(url, path, issuer, scopes)
    if settings.audience and path == settings.path:
        # An audience may be a name that the authorization server has for the server, instead of its address.
        endpoint.audiences = frozenset({settings.audience})
    return endpoint


def verifier_of(settings: HttpSettings, environment: Mapping[str, str], issuer: str) -> Verifier:
    """Return the verifier of tokens: by the issuer's keys, or by introspection."""
    if not settings.introspect:
        keys = keys_from(settings.jwks, issuer)
        return SignedTokenVerifier(issuer, keys, settings.algorithms)
    if settings.jwks or settings.algorithms:
        raise MisconfiguredError(
            "tokens are either asked about or verified here: keys and introspection exclude each other"
        )
    file = settings.introspect_client_file
    client = read_secret(file) if file else environment.get(CREDENTIALS, "")
    if not client:
        raise MisconfiguredError(f"introspection needs a client: --introspect-client FILE, or {CREDENTIALS}")
    return Introspection(issuer, settings.introspect, client)
