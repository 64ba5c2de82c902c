"""The OAuth resource server, against an authorization server with real keys: what is taken, and what is not."""

import asyncio
import base64
import hashlib
import hmac
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcpc_runtime.http.auth import http_client
from mcpc_runtime.http.auth import jwt as signed_tokens
from mcpc_runtime.http.auth.authenticator import TokenAuthenticator
from mcpc_runtime.http.auth.configure import authenticator
from mcpc_runtime.http.auth.jwt import SigningKeys, keys_from
from mcpc_runtime.http.auth.oauth import WELL_KNOWN
from mcpc_runtime.http.principals import Denied, MisconfiguredError, Principal, UnavailableError
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.lazy import lazy
from support.clocks import StoppedClock
from support.issuer import Issuer, Key, raw_token, serving
from support.ports import reserved_port

URL = "https://mcp.example.com/mcp"
CLIENT = "mcp-server:hunter2 of the client".replace(" ", "-")


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with serving() as one:
        yield one


def gate_of(
    one: Issuer, /, environment: dict[str, str] | None = None, *, hides: bool = False, **more: Any
) -> TokenAuthenticator:
    given = {"url": URL, "issuer": one.url, **more}
    if "introspect" not in given:
        given.setdefault("jwks", f"{one.url}/jwks")
    made = authenticator(HttpSettings(**given), environment or {}, hides=hides)
    assert made is not None
    return made


async def decide(gate: TokenAuthenticator, token: str, path: str = "/mcp") -> Principal | Denied:
    found = gate.check([(b"authorization", f"Bearer {token}".encode())], path)
    return found if isinstance(found, (Principal, Denied)) else await found


def check(gate: TokenAuthenticator, token: str, path: str = "/mcp") -> Principal | Denied:
    return asyncio.run(decide(gate, token, path))


def header(refusal: Principal | Denied, name: bytes = b"www-authenticate") -> str:
    assert isinstance(refusal, Denied)
    return dict(refusal.headers).get(name, b"").decode()


# What clients are told


def test_each_endpoint_is_a_resource_of_its_own(issuer: Issuer) -> None:
    gate = gate_of(issuer, also=(("/more", "more.pyz"),))
    assert json.loads(gate.document(f"{WELL_KNOWN}/more") or b"")["resource"] == "https://mcp.example.com/more"
    ours, theirs = issuer.token(), issuer.token(aud="https://mcp.example.com/more")
    assert isinstance(check(gate, ours), Principal) and isinstance(check(gate, theirs, "/more"), Principal)
    assert isinstance(check(gate, theirs), Denied)
    wrong = check(gate, ours, "/more")
    assert 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/more"' in header(wrong)


# Signed tokens


@pytest.mark.parametrize("number", [0, 1, 2], ids=["RS256", "ES256", "EdDSA"])
def test_a_token_of_the_issuer_is_taken(issuer: Issuer, number: int) -> None:
    gate = gate_of(issuer)
    claims = {"scope": "a b", "scp": ["c"], "client_id": "x"}
    for _ in range(2):
        found = check(gate, issuer.token(number, **claims))
        assert isinstance(found, Principal)
        assert (found.name, found.scopes, found.allows) == (f"{issuer.url} sub=alice", frozenset("abc"), None)
        assert found.expires is not None and 250 < found.expires - time.time() <= 300
    assert issuer.count("/jwks") == 1


def wrong_claims() -> dict[str, dict[str, Any]]:
    """Return one wrong value of each claim; `test_auth_units` has the others."""
    return {
        "expired": {"exp": int(time.time()) - 61},
        "made in the future": {"iat": int(time.time()) + 90},
        "another issuer": {"iss": "https://evil.example.com"},
        "without an issuer": {"iss": None},
        "a list of issuers": {"iss": ["x"]},
        "another audience": {"aud": URL + "/"},
        "nobody": {"sub": None},
    }


def test_a_token_with_wrong_claims_is_refused(issuer: Issuer) -> None:
    gate = gate_of(issuer)
    for name, wrong in {**wrong_claims(), "without an end": {"exp": None}}.items():
        claims = json.dumps(issuer.claims(**wrong)).encode()
        token = jwt.PyJWS().encode(claims, issuer.keys[0].private, "RS256", headers={"kid": "one"})
        found = check(gate, token)
        assert isinstance(found, Denied) and found.status == 401, name
        assert 'error="invalid_token"' in header(found) and "resource_metadata=" in header(found)
        assert token not in header(found) and token.encode() not in found.body


def forged(issuer: Issuer) -> dict[str, str]:
    one, claims = issuer.keys[0], issuer.claims()
    good = issuer.token()
    head, body, signature = good.split(".")
    public = one.private.public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    modulus = base64.urlsafe_b64decode(one.published["n"] + "==")
    other = Key("rsa", "one")

    def confused(secret: bytes, algorithm: str = "HS256") -> str:
        signed = raw_token({"alg": algorithm, "typ": "JWT", "kid": "one"}, claims).rstrip(".")
        mac = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
        return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"

    evil = {"jku": "https://evil.example.com/jwks", "x5u": "https://evil.example.com/x", "jwk": other.published}
    raised = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "root"}).encode()).rstrip(b"=").decode()
    return {
        "none": raw_token({"alg": "none", "typ": "JWT"}, claims),
        "None": raw_token({"alg": "None", "kid": "one"}, claims),
        "nOnE with a signature": raw_token({"alg": "nOnE", "kid": "one"}, claims, b"x"),
        "an empty algorithm": raw_token({"alg": "", "kid": "one"}, claims),
        "no algorithm": raw_token({"kid": "one"}, claims),
        "a list of algorithms": raw_token({"alg": ["RS256"], "kid": "one"}, claims),
        "HS256 with the public key as PEM": confused(pem), "HS256 with the public key as DER": confused(der),
        "HS256 with the modulus": confused(modulus), "RS256 with a mac": confused(pem, "RS256"),
        "HS256 with nothing": confused(b""), "another key of the same name": other.sign(claims),
        "keys brought along": other.sign(claims, **evil), "an unknown key": Key("rsa", "four").sign(claims),
        "the wrong kind of key": Key("ec", "one").sign(claims),
        "an algorithm that was not chosen": one.sign(claims, "RS512"), "PS256, not chosen": one.sign(claims, "PS256"),
        "critical": one.sign(claims, crit=["exp"], exp=1),
        "critical b64": one.sign(claims, crit=["b64"], b64=True),
        "an ID token": one.sign(claims, typ="id+jwt"), "a proof": one.sign(claims, typ="dpop+jwt"),
        "a type that is no text": raw_token({"alg": "RS256", "typ": 5, "kid": "one"}, claims, b"x"),
        "a name that is no text": raw_token({"alg": "RS256", "kid": 5}, claims, b"x"),
        "other claims": f"{head}.{raised}.{signature}", "no signature": f"{head}.{body}.",
        "half a signature": f"{head}.{body}.{signature[:-10]}", "padding": f"{good}==", "four parts": f"{good}.x",
        "five parts": f"{good}.x.y", "two parts": f"{head}.{body}", "dots": "..",
        "header that is a list": raw_token([], claims, b"x"), "header that is a number": raw_token(5, claims, b"x"),
        "claims that are a list": raw_token({"alg": "RS256", "kid": "one"}, [], b"x"),
        "deep header": f"{base64.urlsafe_b64encode(b'[' * 4000).decode().rstrip('=')}.x.x", "no JSON": "eA.eA.eA",
        "opaque": "an-opaque-token",
    }  # fmt: skip


@pytest.fixture(scope="module")
def forgeries() -> Iterator[tuple[Issuer, dict[str, str]]]:
    with serving() as one:
        yield one, forged(one)


def test_no_forgery_is_taken(forgeries: tuple[Issuer, dict[str, str]]) -> None:
    issuer, tokens = forgeries
    gate = gate_of(issuer)
    for name, token in tokens.items():
        for _ in range(2):
            found = check(gate, token)
            assert isinstance(found, Denied), name
            assert found.status in (400, 401), name
            assert token not in header(found) and token.encode() not in found.body, name
    assert isinstance(check(gate, issuer.token()), Principal)
    assert issuer.count("/jwks") <= 2, "keys are not asked for by every token with an unknown one"
    assert {path for path, _, _ in issuer.asked} == {"/jwks"}


def test_only_the_algorithms_that_were_chosen_hold(issuer: Issuer) -> None:
    gate = gate_of(issuer, algorithms=("PS256",))
    one = issuer.keys[0]
    assert isinstance(check(gate, one.sign(issuer.claims(), "PS256")), Principal)
    assert isinstance(check(gate, one.sign(issuer.claims(), "RS256")), Denied)
    for name in ("none", "HS256", "HS512", "rs256", ""):
        with pytest.raises(MisconfiguredError):
            gate_of(issuer, algorithms=("RS256", name))


def test_a_key_serves_only_what_it_is_made_for(issuer: Issuer) -> None:
    """An encryption key, a shared secret, a weak key, a key bound to another algorithm, a curve that is not the one."""
    weak, large = Key("weak", "weak"), Key("ec384", "large")
    rows = [
        {**Key("rsa", "enc").published, "use": "enc"},
        {**Key("rsa", "ops").published, "key_ops": ["encrypt"]},
        {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "kid": "shared"},
        {**issuer.keys[0].published, "kid": "bound", "alg": "RS512"},
        {**weak.published},
        {**large.published},
        {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
        "no key",
        issuer.keys[1].published,
    ]
    issuer.answers["/jwks"] = (200, {}, json.dumps({"keys": rows}).encode())
    gate = gate_of(issuer)
    claims = issuer.claims()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = weak.sign(claims)
    bad = [
        short,
        large.sign(claims),
        issuer.keys[0].sign(claims, kid="bound"),
        issuer.keys[0].sign(claims, kid="broken"),
    ]
    shared = jwt.encode(claims, b"secretsecretsecretsecret" * 2, "HS256", headers={"kid": "shared"})
    for token in (*bad, shared):
        assert isinstance(check(gate, token), Denied)
    assert isinstance(check(gate, issuer.token(1)), Principal)


def test_a_token_that_names_no_key_means_the_only_one_that_fits(issuer: Issuer) -> None:
    gate = gate_of(issuer)
    token = jwt.encode(issuer.claims(), issuer.keys[0].private, "RS256")
    assert isinstance(check(gate, token), Principal)
    issuer.keys.append(Key("rsa", "another"))
    assert isinstance(check(gate_of(issuer), token), Denied)


# Keys come and go


class Source:
    """Where keys come from: how often it was asked, and what it answers."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.count = 0
        self.fails = False

    async def load(self) -> bytes:
        self.count += 1
        await asyncio.sleep(0)
        if self.fails:
            raise UnavailableError("no")
        return json.dumps(
            {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": X, "kid": name} for name in self.names]}
        ).encode()


X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"


def known(keys: SigningKeys, name: str) -> bool:
    async def look() -> bool:
        if keys.is_due(name, "EdDSA"):
            await keys.refresh()
        return keys.find(name, "EdDSA") is not None

    return asyncio.run(look())


def test_keys_are_asked_for_once_for_all_who_wait() -> None:
    source = Source("one")

    async def all_at_once() -> list[None]:
        keys = SigningKeys(source.load, StoppedClock())
        first = asyncio.ensure_future(keys.refresh())
        await asyncio.sleep(0)
        first.cancel()  # whoever came first goes; the others still get theirs
        return await asyncio.gather(*(keys.refresh() for _ in range(100)))

    assert len(asyncio.run(all_at_once())) == 100 and source.count == 1


@pytest.mark.parametrize(
    "data", [b"", b"x", b"[]", b"{}", b'{"keys":{}}', b'{"keys":[]}', b'{"keys":[5,{"kty":"oct"}]}']
)
def test_a_document_that_has_no_keys_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        SigningKeys(Source().load).take(data)
    place = tmp_path / "keys.json"
    place.write_bytes(data)
    with pytest.raises(MisconfiguredError):
        keys_from(str(place), "https://issuer.example.com")


def test_keys_from_a_file_are_read_at_the_start_and_again(
    issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "keys.json"
    place.write_bytes(issuer.jwks()[2])
    gate = gate_of(issuer, jwks=str(place))
    assert isinstance(check(gate, issuer.token()), Principal)
    issuer.keys = [Key("rsa", "next")]
    place.write_bytes(issuer.jwks()[2])
    monkeypatch.setattr(signed_tokens, "PAUSE_SECONDS", 0.0)
    assert isinstance(check(gate, issuer.token()), Principal)
    assert issuer.asked == []
    with pytest.raises(MisconfiguredError):
        gate_of(issuer, jwks=str(tmp_path / "nowhere"))


def test_an_issuer_that_describes_itself_needs_no_place_for_keys(issuer: Issuer) -> None:
    described = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/jwks"}
    issuer.answers["/.well-known/openid-configuration"] = (200, {}, json.dumps(described).encode())
    gate = gate_of(issuer, jwks="")
    assert isinstance(check(gate, issuer.token()), Principal)
    wrong = {**described, "issuer": "https://evil.example.com"}
    issuer.answers["/.well-known/oauth-authorization-server"] = (200, {}, json.dumps(wrong).encode())
    assert isinstance(check(gate_of(issuer, jwks=""), issuer.token()), Principal)
    for uri in ("http://example.com/jwks", "file:///etc/passwd", "ftp://127.0.0.1/", 5, ""):
        bad = json.dumps({**described, "jwks_uri": uri}).encode()
        issuer.answers["/.well-known/openid-configuration"] = (200, {}, bad)
        found = check(gate_of(issuer, jwks=""), issuer.token())
        assert isinstance(found, Denied) and found.status == 503


# Fetching


def slowly(file: Any) -> None:
    for _ in range(100):
        file.write(b" ")
        file.flush()
        time.sleep(0.05)


def test_every_fault_of_the_other_side_is_unavailable_and_never_invalid(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "SECONDS", 0.4)
    good = issuer.jwks()[2]
    with serving() as other:
        other.answers["/jwks"] = (200, {}, good)
        faults: dict[str, Any] = {
            "404": (404, {}, good),
            "500": (500, {}, good),
            "204": (204, {}, b""),
            "another host": (302, {"location": f"{other.url}/jwks"}, b""),
            "another scheme": (302, {"location": "file:///etc/passwd"}, b""),
            "ftp": (301, {"location": "ftp://127.0.0.1/jwks"}, b""),
            "a loop": (302, {"location": "/jwks"}, b""),
            "too large": (200, {}, good[:-1] + b" " * (1 << 20) + b"}"),
            "not JSON": (200, {}, b"<html>"),
            "half": (200, {"content-length": "100000"}, good),
            "slow": (200, {}, slowly),
            "silent": (200, {}, lambda file: time.sleep(1)),
        }
        for name, fault in faults.items():
            issuer.answers["/jwks"] = fault
            begun = time.monotonic()
            found = check(gate_of(issuer), issuer.token())
            assert isinstance(found, Denied) and found.status == 503, name
            assert header(found, b"retry-after") == "5" and header(found) == ""
            assert time.monotonic() - begun < 60, name
        assert other.asked == []
    issuer.answers["/here"] = (302, {"location": f"{issuer.url}/jwks"}, b"")
    issuer.answers["/jwks"] = (200, {}, good)
    assert isinstance(check(gate_of(issuer, jwks=f"{issuer.url}/here"), issuer.token()), Principal)


# Introspection


def asking(issuer: Issuer, **more: Any) -> TokenAuthenticator:
    return gate_of(issuer, {"MCPC_INTROSPECT_CREDENTIALS": CLIENT}, introspect=f"{issuer.url}/introspect", **more)


def test_a_token_is_asked_about_once(issuer: Issuer) -> None:
    gate = asking(issuer, scopes=("mcp",))
    issuer.active["opaque"] = issuer.claims(scope="mcp x")

    async def many() -> list[Principal | Denied]:
        return await asyncio.gather(*(decide(gate, "opaque") for _ in range(50)))

    found = asyncio.run(many())
    assert all(isinstance(one, Principal) and one.name == f"{issuer.url} sub=alice" for one in found)
    assert isinstance(check(gate, "opaque"), Principal) and issuer.count("/introspect") == 1
    ((_, body, headers),) = issuer.asked
    assert body == b"token=opaque&token_type_hint=access_token"
    assert headers["authorization"] == "Basic " + base64.b64encode(CLIENT.encode()).decode()


def test_an_active_token_with_wrong_claims_is_refused(issuer: Issuer) -> None:
    for name, wrong in wrong_claims().items():
        claims = {key: value for key, value in {**issuer.claims(), **wrong}.items() if value is not None}
        issuer.active["opaque"] = claims
        found = check(asking(issuer), "opaque")
        refused = isinstance(found, Denied) and found.status == 401
        # An authorization server need not repeat who it is (RFC 7662, section 2.2).
        assert refused is (name != "without an issuer"), name


def test_where_nobody_can_be_asked_no_token_is_wrong(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "SECONDS", 0.4)
    issuer.active["opaque"] = issuer.claims()
    faults: list[Any] = [
        (500, {}, b'{"active":false}'),
        (401, {}, b'{"error":"invalid_client"}'),
        (200, {}, b"x"),
        (200, {}, b"[]"),
        (200, {}, b"{}"),
        (200, {}, b'{"active":"true"}'),
        (200, {}, b'{"active":1}'),
        (302, {"location": "/introspect"}, b""),
        (200, {}, lambda file: time.sleep(1)),
    ]
    for fault in faults:
        issuer.answers["/introspect"] = fault
        gate = asking(issuer)
        found = check(gate, "opaque")
        assert isinstance(found, Denied) and found.status == 503, fault
        assert b"opaque" not in found.body
    issuer.answers["/introspect"] = issuer.introspect
    assert isinstance(check(gate, "opaque"), Principal), "a failure is not kept"


@pytest.mark.parametrize(
    ("place", "issuer", "why"),
    [("{}/keys", "", "the authorization server did not answer"), ("", "{}", "the issuer does not describe itself")],
)
def test_keys_that_cannot_be_read_are_logged_with_their_place(
    place: str, issuer: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(signed_tokens, "log_line", logged.append)
    url = f"http://127.0.0.1:{reserved_port()}"
    keys = keys_from(place.format(url), issuer.format(url))
    for _ in range(2):  # the second time nothing is tried: a flood of tokens is no flood of lines
        with pytest.raises(UnavailableError):
            asyncio.run(keys.refresh())
    assert logged == [f"the keys of {(place or issuer).format(url)} cannot be read: {why}"]


def test_whoever_asked_first_may_go(issuer: Issuer) -> None:
    issuer.active["opaque"] = issuer.claims()
    answered = issuer.introspect
    issuer.answers["/introspect"] = lambda body: (time.sleep(0.2), answered(body))[1]
    gate = asking(issuer)

    async def both() -> Principal | Denied:
        first = asyncio.ensure_future(decide(gate, "opaque"))
        second = asyncio.ensure_future(decide(gate, "opaque"))
        await asyncio.sleep(0.05)
        first.cancel()
        return await second

    assert isinstance(asyncio.run(both()), Principal) and issuer.count("/introspect") == 1


# What is configured


def test_without_the_packages_it_is_said_how_to_carry_them(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcpc_runtime.http.auth import jwt as ours  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "jwt", None)
    monkeypatch.setattr(ours, "PyJWT", lazy("jwt:PyJWT"))
    with pytest.raises(MisconfiguredError, match="jwt: build with --oauth"):
        gate_of(issuer)
