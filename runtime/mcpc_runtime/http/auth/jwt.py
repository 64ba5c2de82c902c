"""Verification of signed access tokens (RFC 9068) with the bundled PyJWT.

The algorithms are the configured ones, never the token's choice; a key is used only for its own algorithms; and key
locations that a token names are ignored.

The signing keys of an authorization server (RFC 7517), from a file or a URL.

They are read again when they are old, or when a token names an unknown key, but at most every few seconds, whatever
tokens arrive.  If they cannot be read again, the previous ones are used for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic, time
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt import PyJWK, PyJWT

from mcpc_runtime.http.auth.http_client import checked_url, fetch
from mcpc_runtime.http.auth.token_claims import LEEWAY_SECONDS, Claims, check_audience, check_times
from mcpc_runtime.http.principals import InvalidTokenError, MisconfiguredError, NotBundledError, UnavailableError
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse

DEFAULT_ALGORITHMS = ("RS256", "ES256", "EdDSA")
REQUIRED = ["iss", "aud", "exp"]
TYPES = (None, "JWT", "AT+JWT", "APPLICATION/AT+JWT")
"""Accepted token types; a token for another purpose has another type."""


class SignedTokenVerifier:
    """Verifies signed tokens of one issuer."""

    def __init__(self, issuer: str, keys: SigningKeys, algorithms: tuple[str, ...] = ()) -> None:
        self._issuer = issuer
        self._keys = keys
        self._algorithms = algorithms or DEFAULT_ALGORITHMS
        for algorithm in self._algorithms:
            if algorithm not in KEY_TYPES:
                raise MisconfiguredError(
                    f"{algorithm!r} is not an accepted algorithm; use one of {', '.join(KEY_TYPES)}"
                )
        try:
            self._jwt = PyJWT()
            self._read_header = jwt.get_unverified_header
            self._wrong = jwt.PyJWTError
            self._rsa = rsa.RSAPublicKey
        except ImportError as problem:
            raise NotBundledError(f"signed tokens need {problem.name or problem}: build with --oauth") from None

    def verify(self, token: str, audiences: frozenset[str], source: object = None) -> Claims | Awaitable[Claims]:
        """Return a token's claims, for any sender; raise InvalidTokenError or UnavailableError."""
        kid, algorithm = self._header(token)
        if self._keys.is_due(kid, algorithm):
            return self._verify_later(token, audiences)
        return self._verify(token, audiences)

    async def _verify_later(self, token: str, audiences: frozenset[str]) -> Claims:
        await self._keys.refresh()
        return self._verify(token, audiences)

    def _header(self, token: str) -> tuple[str | None, str]:
        """Return the key id and the algorithm of a token, if that is one of the configured ones."""
        if token.count(".") != 2 or "=" in token:
            raise InvalidTokenError("not a JWT")
        try:
            header = self._read_header(token)
        except (self._wrong, ValueError, RecursionError):
            raise InvalidTokenError("malformed token header") from None
        kind, algorithm = header.get("typ"), header.get("alg")
        # What `crit` names must be understood (RFC 7515, section 4.1.11), and nothing of it is.
        if type(algorithm) is not str or algorithm not in self._algorithms or "crit" in header or "b64" in header:
            raise InvalidTokenError("unsupported algorithm or header")
        # Media types are compared without regard to case, and may lack `application/` (RFC 7515, section 4.1.9).
        if (kind.upper() if type(kind) is str else kind) not in TYPES:
            raise InvalidTokenError("wrong token type")
        return header.get("kid"), algorithm

    def _verify(self, token: str, audiences: frozenset[str]) -> Claims:
        if not self._keys.are_usable:
            raise UnavailableError("there are no keys")
        kid, algorithm = self._header(token)
        try:
            key = self._keys.find(kid, algorithm)
            if key is None:
                raise InvalidTokenError("no key of the issuer has signed it")
            claims: Claims = self._jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=audiences,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": REQUIRED, "enforce_minimum_key_length": True},
            )
        except (self._wrong, ValueError, RecursionError) as problem:
            raise InvalidTokenError(WHY.get(type(problem).__name__, "the token is not valid")) from None
        check_times(claims, time())
        check_audience(claims, audiences)
        return claims


WHY = {
    "ExpiredSignatureError": "the token has expired",
    "ImmatureSignatureError": "the token is not valid yet",
    "InvalidAudienceError": "the token is not for this server",
    "InvalidIssuerError": "the token is of another issuer",
    "InvalidSignatureError": "no key of the issuer has signed it",
    "MissingRequiredClaimError": "the token does not say whose it is, for whom, or how long",
}
"""Reasons for the client, by PyJWT's exception; the exception's text may repeat parts of the token."""


Load = Callable[[], Awaitable[bytes]]
KEY_TYPES: dict[str, tuple[str, str | None]] = {
    **{f"{family}{size}": ("RSA", None) for family in ("RS", "PS") for size in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""The key type and curve of each accepted algorithm; algorithms with a shared secret are not accepted."""
PUBLIC = ("kty", "crv", "x", "y", "n", "e")
MAX_KEYS = 64
FRESH_SECONDS = 600.0
STALE_SECONDS = 3600.0
PAUSE_SECONDS = 10.0


class SigningKeys:
    """The current keys of one issuer; `load` reads them, `place` is where from."""

    def __init__(self, load: Load, now: Callable[[], float] = monotonic, place: str = "") -> None:
        self._load = load
        self._place = place
        self._now = now
        self._keys: list[dict[str, Json]] = []
        self._built: dict[tuple[int, str], PyJWK] = {}
        self._read = float("-inf")
        self._next = float("-inf")
        self._pending: asyncio.Future[None] | None = None

    def is_due(self, kid: str | None, algorithm: str) -> bool:
        """Tell whether the keys have to be read before a token's key is looked up."""
        old = self._now() - self._read > FRESH_SECONDS
        # `_next` is the earliest time to read again: otherwise each token with an unknown key would cost a request.
        return (old or not self._candidates(kid, algorithm)) and (self._now() >= self._next or not self.are_usable)

    @property
    def are_usable(self) -> bool:
        """Whether the keys are not too old to be used."""
        return self._now() - self._read <= STALE_SECONDS

    async def refresh(self) -> None:
        """Read the keys, once for all waiting requests; raise UnavailableError if there are no usable ones."""
        if self._pending is None and self._now() >= self._next:
            self._pending = asyncio.ensure_future(self._refresh())
        if self._pending is not None:
            await asyncio.shield(self._pending)
        if not self.are_usable:
            raise UnavailableError("there are no keys")

    async def _refresh(self) -> None:
        try:
            self.take(await self._load())
        except (UnavailableError, ValueError) as problem:  # the previous keys are used until they are too old
            log_line(f"the keys of {self._place} cannot be read: {problem}")
        finally:
            self._next = self._now() + PAUSE_SECONDS
            self._pending = None

    def take(self, data: bytes) -> None:
        """Load a document of keys; raise ValueError if it is invalid."""
        try:
            document = parse(data)
        except ParseError as problem:
            raise ValueError(f"it is not JSON ({problem})") from None
        keys = document.get("keys") if type(document) is dict else None
        if type(keys) is not list:
            raise ValueError("it is not an object with `keys`")
        usable = [key for key in keys if type(key) is dict and is_for_signatures(key)]
        if not usable:
            raise ValueError("it has no key that signs")
        self._keys, self._built, self._read = usable[:MAX_KEYS], {}, self._now()

    def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        """Return the key of a token, None if no key matches, or more than one."""
        candidates = self._candidates(kid, algorithm)
        if len(candidates) != 1:
            return None
        built = self._built.get((candidates[0], algorithm))
        if built is None:
            # Only public members: a document that has private parts by mistake must not make a private key here.
            public = {name: self._keys[candidates[0]].get(name) for name in PUBLIC}
            built = PyJWK({name: value for name, value in public.items() if value is not None}, algorithm)
            self._built[candidates[0], algorithm] = built
        return built

    def _candidates(self, kid: str | None, algorithm: str) -> list[int]:
        return [
            number
            for number, key in enumerate(self._keys)
            if fits_algorithm(key, algorithm) and (kid is None or key.get("kid") == kid)
        ]


def is_for_signatures(key: dict[str, Json]) -> bool:
    """Tell whether a key is a public key for verifying signatures."""
    operations = key.get("key_ops")
    can_verify = type(operations) is not list or "verify" in operations
    return (
        can_verify
        and key.get("use") in (None, "sig")
        and any(fits_algorithm(key, algorithm) for algorithm in KEY_TYPES)
    )


def fits_algorithm(key: dict[str, Json], algorithm: str) -> bool:
    """Tell whether a key is one for an algorithm."""
    kind, curve = KEY_TYPES[algorithm]
    has_type = key.get("kty") == kind and (curve is None or key.get("crv") == curve)
    return has_type and key.get("alg") in (None, algorithm)


def keys_from(place: str, issuer: str) -> SigningKeys:
    """Return the keys of a URL or a file, or those that the issuer's metadata names; raise MisconfiguredError."""
    if place.startswith(("https:", "http:")):
        url = checked_url(place, "the keys")
        return SigningKeys(lambda: fetch(url), place=url)
    if place:
        keys = SigningKeys(lambda: read_file(place), place=place)
        try:
            keys.take(read_contents(place))
        except (OSError, ValueError) as problem:
            why = problem.strerror if isinstance(problem, OSError) else problem
            raise MisconfiguredError(f"the keys {place} cannot be used: {why}") from None
        return keys
    checked_url(issuer, "the issuer")
    return SigningKeys(lambda: discover_keys(issuer), place=issuer)


def read_contents(place: str) -> bytes:
    """Return the contents of a file."""
    with open(place, "rb") as file:
        return file.read(1 << 20)


async def read_file(place: str) -> bytes:
    """Return the current contents of a file; raise UnavailableError."""
    try:
        return read_contents(place)
    except OSError:
        raise UnavailableError("the keys cannot be read") from None


async def discover_keys(issuer: str) -> bytes:
    """Return the keys that an issuer's metadata names (RFC 8414, OpenID Discovery); raise UnavailableError."""
    for url in metadata_urls(issuer):
        try:
            metadata = parse(await fetch(url))
        except (UnavailableError, ParseError):
            continue
        if type(metadata) is dict and metadata.get("issuer") == issuer:
            place = metadata.get("jwks_uri")
            try:
                return await fetch(checked_url(place if type(place) is str else "", "the keys"))
            except MisconfiguredError as problem:
                raise UnavailableError(str(problem)) from None
    raise UnavailableError("the issuer does not describe itself")


def metadata_urls(issuer: str) -> list[str]:
    """Return the URLs where an issuer may have its metadata, in the order to try."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return [
        # RFC 8414 puts the well-known part before the path of the issuer, OpenID Discovery behind it.
        f"{root}/.well-known/oauth-authorization-server{path}",
        f"{root}/.well-known/openid-configuration{path}",
        f"{root}{path}/.well-known/openid-configuration",
    ]
