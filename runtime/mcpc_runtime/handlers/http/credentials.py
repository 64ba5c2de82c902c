"""The credentials of requests: keys, passwords, tokens that are fetched, and those of the client's own user.

Of the alternatives of a plan the first is used whose settings are all set.  A token that was fetched is kept in memory
until a minute before its end; calls at once fetch it once, and after a 401 it is fetched again, once for each call.
"""

from __future__ import annotations

from _thread import LockType, allocate_lock
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from mcpc_runtime.handlers.http.exchange import Exchange
from mcpc_runtime.handlers.http.parameters import query_pairs
from mcpc_runtime.handlers.http.request import FORM, OutgoingRequest, RequestRefused, parse_base
from mcpc_runtime.handlers.http.secrets import SecretTexts
from mcpc_runtime.handlers.http.wire import HttpAnswer
from mcpc_runtime.protocol.contents import base64_of
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

EARLY = 60.0
"""The seconds before its end at which a token is fetched again."""
LIFETIME = 300
"""The seconds that a token is kept if its server does not say how long it is valid."""
FETCHED = ("clientCredentials", "refreshToken")
UNAUTHORIZED = 401
Scheme = tuple[Any, ...]


class Token:
    """A token of one server for one client: its text, when it ends, and what fetches the next one."""

    def __init__(self) -> None:
        self.lock: LockType = allocate_lock()
        self.text = ""
        self.end = 0.0
        self.refresh = ""


class Credentials:
    """Adds credentials to requests; `settings`: the values that are set."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._lock = allocate_lock()
        self._tokens: dict[Scheme, Token] = {}

    def answer(
        self,
        request: OutgoingRequest,
        alternatives: tuple[tuple[Scheme, ...], ...],
        client_header: Callable[[str], str],
        exchange: Exchange,
        secrets: SecretTexts,
    ) -> HttpAnswer:
        """Return the answer to a request with credentials; raise RequestRefused if there are none."""
        schemes = self.choose(alternatives, client_header) if alternatives else ()
        fetched = [(scheme, self._fetch(scheme, "", exchange, secrets)) for scheme in schemes if scheme[0] in FETCHED]
        for scheme in schemes:
            self.add(request, scheme, client_header, secrets)
        for _, token in fetched:
            request.set_header("Authorization", f"Bearer {token}")
        answer = exchange.answer(request)
        if fetched and answer.status == UNAUTHORIZED:
            for scheme, token in fetched:
                request.set_header("Authorization", f"Bearer {self._fetch(scheme, token, exchange, secrets)}")
            answer = exchange.answer(request)
        return answer

    def choose(
        self, alternatives: tuple[tuple[Scheme, ...], ...], client_header: Callable[[str], str]
    ) -> tuple[Scheme, ...]:
        """Return the first alternative that has all its values; raise RequestRefused."""
        wanting = []
        for schemes in alternatives:
            names = [name for scheme in schemes for name in scheme[2] if name not in self._settings]
            asked = [scheme[3] for scheme in schemes if scheme[0] == "perUser"]
            names += [f"the header `{header}` of the client" for header in asked if not client_header(header)]
            if not names:
                return schemes
            wanting.append(" and ".join(names))
        raise RequestRefused(f"it needs {', or '.join(wanting)}, which is not set")

    def add(
        self, request: OutgoingRequest, scheme: Scheme, client_header: Callable[[str], str], secrets: SecretTexts
    ) -> None:
        """Add what a scheme says, unless it is a token that is fetched."""
        kind, name, settings = scheme[:3]
        values = [self._settings[setting] for setting in settings]
        if kind == "header":
            request.set_header(name, values[0])
        elif kind == "query":
            # The request for a next page may have the pair already.
            request.query += [pair for pair in query_pairs(name, values[0], {}) if pair not in request.query]
        elif kind == "cookie":
            request.cookies += [pair for pair in query_pairs(name, values[0], {}) if pair not in request.cookies]
        elif kind == "bearer":
            request.set_header(name, f"Bearer {values[0]}")
        elif kind == "basic":
            request.set_header(name, basic(values[0], values[1], secrets))
        elif kind == "certificate":
            request.origin = request.origin._replace(certificate=(values[0], values[1]))
        elif kind == "perUser":
            value = client_header(scheme[3])
            secrets.add("token of the client", value)
            request.set_header(name, f"Bearer {value}" if name == "Authorization" else value)

    def _fetch(self, scheme: Scheme, refused: str, exchange: Exchange, secrets: SecretTexts) -> str:
        """Return a valid token that is not the refused one."""
        with self._lock:
            token = self._tokens.setdefault(scheme, Token())
        if not token.lock.acquire(timeout=exchange.call.remaining()):
            raise RequestRefused("another call was fetching the token until this one's time was over")
        try:
            # Another call may have renewed the refused token while this one waited for the lock.
            if not token.text or token.text == refused or monotonic() >= token.end:
                self._renew(token, scheme, exchange, secrets)
            secrets.add("token", token.text)
            return token.text
        finally:
            token.lock.release()

    def _renew(self, token: Token, scheme: Scheme, exchange: Exchange, secrets: SecretTexts) -> None:
        kind, url, settings, scopes, place = scheme
        client, secret, *more = [self._settings[setting] for setting in settings]
        fields = {"grant_type": "client_credentials"}
        if kind == "refreshToken":
            fields = {"grant_type": "refresh_token", "refresh_token": token.refresh or more[0]}
        if scopes:
            fields["scope"] = scopes
        parts = urlsplit(url)
        origin, _ = parse_base(f"{parts.scheme}://{parts.netloc}", named=False)
        request = OutgoingRequest("POST", origin, parts.path or "/")
        request.query = [parts.query] if parts.query else []
        request.headers = {"Accept": "application/json", "Content-Type": FORM}
        if place == "body":
            fields |= {"client_id": client, "client_secret": secret}
        else:
            request.set_header("Authorization", basic(client, secret, secrets))
        pairs = [pair for name, value in fields.items() for pair in query_pairs(name, value, {})]
        request.body = "&".join(pairs).encode()
        # The use of a refresh token may end it (RFC 6749, section 6): a second request would be refused.
        request.repeatable = kind == "clientCredentials"
        answer = exchange.answer(request)
        try:
            grant = parse(answer.body)
        except ParseError:
            grant = None
        if type(grant) is not dict or type(grant.get("access_token")) is not str or answer.status >= 400:
            raise RequestRefused(f"no token: POST {request.path} of {origin.host} → {answer.status} {answer.reason}")
        lifetime, refresh = grant.get("expires_in"), grant.get("refresh_token")
        token.text = str(grant["access_token"])
        token.end = monotonic() + (lifetime if type(lifetime) is int else LIFETIME) - EARLY
        token.refresh = refresh if type(refresh) is str else token.refresh


def basic(user: str, password: str, secrets: SecretTexts) -> str:
    """Return the header of a user and a password, which is as secret as they are."""
    pair = base64_of(f"{user}:{password}".encode("utf-8", "surrogatepass"))
    secrets.add("password", pair)
    return f"Basic {pair}"
