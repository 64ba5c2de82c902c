"""The parts of authentication, each by itself: headers, claims, lists of tokens, files, keys, scopes and limits."""

import asyncio
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.http.auth import http_client, introspection, jwt, token_file
from mcpc_runtime.http.auth.authenticator import TokenAuthenticator
from mcpc_runtime.http.auth.configure import ONLY_WITH_ISSUER, authenticator, resource
from mcpc_runtime.http.auth.http_client import checked_url, origin
from mcpc_runtime.http.auth.introspection import Introspection, IntrospectionLimits, source_of
from mcpc_runtime.http.auth.jwt import SignedTokenVerifier, SigningKeys, is_for_signatures, metadata_urls
from mcpc_runtime.http.auth.oauth import WELL_KNOWN, GrantedTools, OAuth, Resource, Scopes
from mcpc_runtime.http.auth.token_claims import (
    check_audience,
    check_times,
    closure,
    granted_scopes,
    principal_of,
    timestamp,
)
from mcpc_runtime.http.auth.token_file import TokenFile, access_problem, read_secret, secret_problem
from mcpc_runtime.http.auth.tokens import MAX_BYTES, MalformedHeaderError, bearer_token, tokens_from
from mcpc_runtime.http.principals import (
    AllowedTools,
    Denied,
    InvalidTokenError,
    MisconfiguredError,
    Principal,
    UnavailableError,
    challenge,
)
from mcpc_runtime.http.settings import HttpSettings


@pytest.mark.parametrize(
    ("values", "token"),
    [
        ([], ""), ([b"Bearer abc=="], "abc=="), ([b" \tBearer abc\t"], "abc"), ([b"Basic abc"], ""), ([b"bearer abc"], ""), ([b""], ""),
        ([b"Bearer " + b"x" * MAX_BYTES], "x" * MAX_BYTES), ([b"Bearer " + b"x" * (MAX_BYTES + 1)], None), ([b"Bearer a=b"], None),
        ([b"Bearer  a"], None), ([b"Bearer"], None), ([b"Bearer a", b"Bearer a"], None), ([b"Bearer a", b"Basic b"], None),
    ],
)  # fmt: skip
def test_a_token_is_taken_from_one_header(values: list[bytes], token: str | None) -> None:
    headers = [(b"host", b"h"), *((b"Authorization", value) for value in values)]
    if token is None:
        with pytest.raises(MalformedHeaderError):
            bearer_token(headers)
    else:
        assert bearer_token(headers) == token


def passes(check: Any, *words: Any) -> bool:
    try:
        check(*words)
    except InvalidTokenError:
        return False
    return True


@pytest.mark.parametrize(
    ("claims", "is_valid"),
    [
        ({}, True), ({"exp": 940.5}, True), ({"exp": 940}, False), ({"nbf": 1060}, True), ({"nbf": 1060.5}, False), ({"iat": 1060}, True),
        ({"iat": 1061}, False), ({"exp": "9999"}, False), ({"nbf": None}, False), ({"iat": True}, False), ({"exp": 1e15}, False), ({"exp": 1e14}, True),
    ],
)  # fmt: skip
def test_a_token_is_valid_for_a_time(claims: Any, is_valid: bool) -> None:
    assert passes(check_times, claims, 1000.0) is is_valid


def test_claims_are_read_as_they_are_meant() -> None:
    assert [
        timestamp(value) for value in (1, 1.5, True, "1", None, -1e15, -1)
    ] == [1.0, 1.5, None, None, None, None, -1.0]  # fmt: skip
    audiences = frozenset({"a", "b"})
    rows = [
        ("a", True), ("c", False), (["c", "b"], True), (["c", 5], False), ([], False), ({"a": 1}, False), (None, False),
    ]  # fmt: skip
    assert [passes(check_audience, {"aud": value}, audiences) for value, _ in rows] == [is_ours for _, is_ours in rows]
    assert granted_scopes({"scope": "a  b", "scp": ["c", 5, "a"], "x": "d"}) == {"a", "b", "c"}
    assert granted_scopes({"scope": {"a": 1}, "scp": None}) == set()
    implied = {"a": ("b", "c"), "b": ("d",), "d": ("a",), "x": ("y",)}
    assert closure({"a"}, implied) == {"a", "b", "c", "d"} and closure({"c"}, implied) == {"c"}


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"sub": "a", "client_id": "b"}, "i sub=a"), ({"client_id": "b", "azp": "c"}, "i client_id=b"), ({"sub": "", "azp": "c"}, "i azp=c"),
        ({"username": "d"}, "i username=d"), ({"sub": "x" * 512}, f"i sub={'x' * 512}"), ({"sub": "x" * 513}, None), ({"sub": 5}, None), ({}, None),
    ],
)  # fmt: skip
def test_a_token_is_somebodys(claims: Any, name: str | None) -> None:
    if name is None:
        with pytest.raises(InvalidTokenError):
            principal_of(claims, "i", {})
        return
    found = principal_of({**claims, "scope": "s", "exp": 5}, "i", {"s": ("t",)})
    assert (found.name, found.allows, found.scopes, found.expires) == (name, None, frozenset({"s", "t"}), 5.0)


TOKEN = "sixteen-letters-"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TOKEN, [("token token", None)]), (f"a {TOKEN}\n# c\n\n b\t{TOKEN}x  t,u_* ;c {TOKEN}y", [("token a", None), ("token b", ("t", "u_*")), ("token c", None)]),
        (f"{'n' * 64} {'t' * 8192}", [(f"token {'n' * 64}", None)]), (f"{'n' * 65} {TOKEN}", "here, line 1"), (f"n {'t' * 8193}", "here, line 1"),
        (f"n {TOKEN[:-1]}", "here, line 1"), (f"n {TOKEN} {'t' * 128}", [("token n", ("t" * 128,))]), (f"n {TOKEN} {'t' * 129}", "here, line 1"),
        (f"#\na {TOKEN}\nb {TOKEN}", "here, line 3"), (f"a {TOKEN} t u", "here, line 1"), (" \n#", "here has no token"), (f"a {TOKEN} t,", "here, line 1"),
        (f"é {TOKEN}", "here, line 1"), (f"a {TOKEN}é", "here, line 1"),
    ],
)  # fmt: skip
def test_a_list_of_tokens_is_read_line_by_line(text: str, found: Any) -> None:
    if type(found) is str:
        with pytest.raises(MisconfiguredError) as refused:
            tokens_from(text, "here")
        assert str(refused.value).partition(":")[0] == found
        return
    listed = tokens_from(text, "here")
    principals = [principal for _, principal in listed._entries]
    assert [
        (each.name, each.allows.patterns if isinstance(each.allows, AllowedTools) else None) for each in principals
    ] == found
    assert listed.count == len(found)


def test_tokens_that_stay_keep_their_principals() -> None:
    before = tokens_from(f"a {TOKEN}1\nb {TOKEN}2 t\nc {TOKEN}3\nd {TOKEN}4", "x")
    kept = [before.find(f"{TOKEN}{number}") for number in range(1, 5)]
    removed = before.replace(tokens_from(f"a {TOKEN}1\nb {TOKEN}2 u\ne {TOKEN}3\nf {TOKEN}5", "x"))
    assert removed == kept[1:] and before.find(f"{TOKEN}1") is kept[0] and before.find(f"{TOKEN}4") is None
    assert [found and found.name for found in map(before.find, (f"{TOKEN}2", f"{TOKEN}3", f"{TOKEN}5"))] == [
        "token b",
        "token e",
        "token f",
    ]
    assert [*tokens_from(f"a {TOKEN} t,u*,v\nb {TOKEN}2", "x").named_tools()] == [("token a", "t"), ("token a", "v")]
    assert before.count == 4


def test_a_file_of_tokens_is_read_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(token_file, "log_line", logged.append)
    place = tmp_path / "tokens"
    place.write_text(f"a {TOKEN}1\nb {TOKEN}2")
    place.chmod(0o600)
    watched = TokenFile(str(place))
    assert watched.read_changes() == [] and logged == []
    place.write_text(f"b {TOKEN}2\nc {TOKEN}3\nd {TOKEN}4")
    assert [each.name for each in watched.read_changes()] == ["token a"]
    assert watched.read_changes() == []
    place.write_text("short x")
    assert watched.read_changes() == [] == watched.read_changes()
    assert watched.tokens.count == 3
    place.unlink()
    assert watched.read_changes() == [] == watched.read_changes()
    assert watched.read() == []
    assert logged[0] == f"{place} was read again: 3 tokens, 2 new, 1 removed"
    assert [line.endswith("; the tokens that were read before still count") for line in logged[1:]] == [True] * 3
    assert token_file.signature(str(place)) is None


@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"", "it is empty"), (b" \n", "it is empty"), (b"x" * 4096, ""), (b"x" * 4097, "it has more than 4096 bytes"), ("é".encode(), "it is no ASCII text"), (b"a\0", "it is no ASCII text")],
)  # fmt: skip
def test_contents_are_a_secret(data: bytes, problem: str) -> None:
    assert secret_problem(data) == problem


def test_a_secret_is_in_a_file_of_its_owner(tmp_path: Path) -> None:
    place = tmp_path / "secret"
    for size, problem in ((4096, ""), (4097, "it has more than 4096 bytes")):
        place.write_bytes(b"x" * size)
        place.chmod(0o600)
        assert access_problem(place.stat()) == problem
    assert access_problem(tmp_path.stat()) == "it is no file"
    before = set(os.listdir("/dev/fd"))
    for name in ("secret", "gone"):
        with pytest.raises(MisconfiguredError, match=f"{name} cannot be used: (it has|No such)"):
            read_secret(str(tmp_path / name))
    assert set(os.listdir("/dev/fd")) == before


def test_scopes_are_always_needed_or_for_tools() -> None:
    scopes = Scopes(("a", "t_*=b", "t_x=c", "a>d", "a>e", "b", "t_x=b"))
    assert (scopes.always, scopes.implied, scopes.all) == (("a", "b"), {"a": ("d", "e")}, ("a", "b", "c"))
    assert [scopes.of(name) for name in ("x", "t_", "t_x")] == [("a", "b"), ("a", "b"), ("a", "b", "c")]
    for wrong in ("", "a b", "=a", "t=", "a>", ">a", "a=b=c d", 'a"', "t$=a"):
        with pytest.raises(MisconfiguredError):
            Scopes((wrong,))
    granted = GrantedTools(scopes, frozenset("ab"))
    assert [granted(name) for name in ("x", "t_", "t_x")] == [True, True, False]
    others = [GrantedTools(scopes, frozenset(names)) for names in ("ba", "abc")] + [
        GrantedTools(Scopes(()), frozenset("ab"))
    ]
    assert [granted == other for other in others] == [True, False, False] and hash(granted) == hash(others[0])
    assert granted != 5 and AllowedTools(("a",)) != ("a",) and hash(AllowedTools(("a",))) == hash(AllowedTools(("a",)))


@pytest.mark.parametrize(
    ("url", "path", "audience", "places"),
    [
        ("HTTPS://A.example/x", "/mcp", "https://a.example/x", [f"{WELL_KNOWN}/x", f"{WELL_KNOWN}/mcp"]),
        ("https://a.example/", "/", "https://a.example", [WELL_KNOWN]),
        ("https://a.example", "/mcp", "https://a.example", [WELL_KNOWN, f"{WELL_KNOWN}/mcp"]),
    ],
)
def test_an_endpoint_is_a_resource(url: str, path: str, audience: str, places: list[str]) -> None:
    found = Resource(url, path, "https://i", Scopes(("s", "t=u")))
    assert (found.audiences, [*found.places], found.scope) == (frozenset({audience}), places, "s")
    assert json.loads(found.document)["scopes_supported"] == ["s", "u"]
    assert "scopes_supported" not in json.loads(Resource(url, path, "i", Scopes(())).document)
    metadata = audience.replace("example", f"example{WELL_KNOWN}", 1)
    assert (
        found.challenge("e", "d")
        == f'Bearer resource_metadata="{metadata}", scope="s", error="e", error_description="d"'
    )
    assert found.challenge(scope="x y").endswith('scope="x y"') and challenge() == "Bearer"


def gate(**more: Any) -> Any:
    """Return an authenticator whose tokens are the claims themselves, as words."""

    def verify(token: str, audiences: Any, source: Any) -> Any:
        if token == "bad":
            raise InvalidTokenError("bad")
        if token == "down":
            raise UnavailableError("down")
        claims = {"sub": token, "scope": token.replace("-", " ")}

        async def later() -> Any:
            return claims if token != "later.none" else {}

        return later() if token.startswith("later") else claims

    scopes = Scopes(("r", "w_*=w", "w>r"))
    resources = {path: Resource(f"https://h{path}", path, "i", scopes) for path in ("/a", "/b")}
    return TokenAuthenticator(None, OAuth("i", SimpleNamespace(verify=verify), resources, scopes, **more))  # type: ignore[arg-type]


def decided(each: Any, token: str, path: str = "/a") -> Any:
    found = each.check([(b"authorization", b"Bearer " + token.encode())], path)
    return found if isinstance(found, Principal | Denied) else asyncio.run(found)


@pytest.mark.parametrize(
    ("token", "status", "error"),
    [("r", 0, ""), ("w", 0, ""), ("x", 403, "insufficient_scope"), ("bad", 401, "invalid_token"), ("down", 503, "temporarily_unavailable"),
     ("later", 403, "insufficient_scope"), ("later-r", 0, ""), ("later.none", 401, "invalid_token")],
)  # fmt: skip
def test_a_token_is_accepted_or_denied(token: str, status: int, error: str) -> None:
    found = decided(gate(), token)
    if not status:
        assert isinstance(found, Principal) and found.allows is None
        return
    assert (found.status, json.loads(found.body)["error"]) == (status, error)
    named = dict(found.headers).get(b"www-authenticate", b"")
    assert (b"oauth-protected-resource/a" in named) is (status != 503)
    assert (b'scope="r"' in named) is (status != 503)


def test_a_call_needs_the_scopes_of_its_tool() -> None:
    each = gate()
    reader, writer = decided(each, "r"), decided(each, "w")
    assert each.permit(reader, "tools/call", "x") is each.permit(writer, "tools/call", "w_x") is None
    assert each.permit(reader, "prompts/get", "w_x") is None
    denied = each.permit(reader, "tools/call", "w_x", "/b")
    assert (
        denied.status == 403
        and b'/b", scope="r w", error="insufficient_scope"' in dict(denied.headers)[b"www-authenticate"]
    )
    assert each.permit(Principal("token"), "tools/call", "w_x") is None
    hiding = gate(hides=True)
    hidden = decided(hiding, "r")
    assert hiding.permit(hidden, "tools/call", "w_x") is None and not hidden.allows("w_x") and hidden.allows("x")
    assert [each.document(path) is None for path in (WELL_KNOWN, f"{WELL_KNOWN}/b", "/b")] == [False, False, True]
    assert each.document(WELL_KNOWN) == each.document(f"{WELL_KNOWN}/a") and [*each.named_tools()] == []


def test_static_tokens_come_before_those_of_the_server() -> None:
    each = gate()
    each._tokens = tokens_from(f"ann {TOKEN} t", "x")
    assert decided(each, TOKEN).name == "token ann" and [*each.named_tools()] == [("token ann", "t")]
    assert decided(each, "r").name == "i sub=r"
    asked: list[str] = []
    each._oauth = SimpleNamespace(check=lambda token, path, source: asked.append(source()))
    for client in (("192.0.2.1", 5), None):
        each.check([(b"authorization", b"Bearer r")], "/a", client)
    assert asked == ["192.0.2.1", ""]


@pytest.mark.parametrize("field", ONLY_WITH_ISSUER)
def test_what_is_for_an_issuer_needs_one(field: str) -> None:
    value: Any = ("x",) if field in ("algorithms", "scopes") else "x"
    with pytest.raises(MisconfiguredError, match=f"^{field.replace('_', ' ')} without an issuer"):
        authenticator(HttpSettings(**{field: value}), {})


@pytest.mark.parametrize(
    ("chosen", "path", "audience"),
    [
        ({"url": "https://p/x"}, "/mcp", "https://p/x"), ({"audience": "https://p/x"}, "/mcp", "https://p/x"), ({"url": "https://p", "audience": "urn:x"}, "/mcp", "urn:x"),
        ({"port": 5}, "/mcp", "http://127.0.0.1:5/mcp"), ({"port": 5, "host": "::1"}, "/mcp", "http://[::1]:5/mcp"), ({"url": "https://p/x", "audience": "urn:x"}, "/b", "https://p/b"),
        ({}, "/mcp", None), ({"url": "https://p/a b"}, "/mcp", None), ({"url": "https://é"}, "/mcp", None), ({"audience": "urn:x", "port": 5}, "/b", "http://127.0.0.1:5/b"),
    ],
)  # fmt: skip
def test_an_endpoint_has_an_address_for_tokens(chosen: Any, path: str, audience: str | None) -> None:
    if audience is None:
        with pytest.raises(MisconfiguredError):
            resource(HttpSettings(**chosen), path, "i", Scopes(()))
    else:
        assert resource(HttpSettings(**chosen), path, "i", Scopes(())).audiences == frozenset({audience})


def test_the_verifier_is_one_of_two() -> None:
    issuer, asked = "https://i.example", "https://i.example/ask"
    base = HttpSettings(issuer=issuer, url="https://p/mcp", introspect=asked)
    for chosen in (base, base.but(jwks="https://k"), base.but(algorithms=("RS256",))):
        with pytest.raises(MisconfiguredError):
            authenticator(chosen, {} if chosen is base else {"MCPC_INTROSPECT_CREDENTIALS": "a:b"})
    assert authenticator(base, {"MCPC_INTROSPECT_CREDENTIALS": "a:b"}) is not None
    for client in ("a", "a:", ":b", ""):
        with pytest.raises(MisconfiguredError):
            Introspection(issuer, asked, client)
    with pytest.raises(MisconfiguredError, match="'none'"):
        SignedTokenVerifier(issuer, SigningKeys(None), ("RS256", "none"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://A:1/x", ("https", "a", 1)), ("https://a", ("https", "a", 443)), ("http://a", ("http", "a", 80)), ("ftp://a", ("ftp", "a", None)),
        ("https://a:x", ("", None, None)), ("https://a:0", ("https", "a", 443)),
    ],
)  # fmt: skip
def test_an_origin_has_a_port(url: str, found: Any) -> None:
    assert origin(url) == found


@pytest.mark.parametrize(
    ("url", "is_good"),
    [
        ("https://a/x?y", True), ("http://localhost:1", True), ("http://127.0.0.1", True), ("http://[::1]/", True), ("http://a", False), ("https://a#b", False),
        ("https://u@a", False), ("https://a/@b", True), ("https://a<", False), ("https://", False), ("ftp://a", False), ("ftp://localhost", False), ("https://a\\b", False),
    ],
)  # fmt: skip
def test_a_url_may_be_fetched(url: str, is_good: bool) -> None:
    if is_good:
        assert checked_url(url, "x") == url
    else:
        with pytest.raises(MisconfiguredError, match=r"^x: "):
            checked_url(url, "x")


def test_only_so_many_fetches_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        http_client,
        "fetch_body",
        lambda url, data, headers: None if url == "bad" else f"{url} {data} {headers}".encode(),
    )
    assert asyncio.run(http_client.fetch("a", b"d", {"x": "y"})) == b"a b'd' {'x': 'y'}"
    with pytest.raises(UnavailableError, match=r"did not answer$"):
        asyncio.run(http_client.fetch("bad"))
    assert http_client.OpenFetches.count == 0
    monkeypatch.setattr(http_client.OpenFetches, "count", http_client.MAX_REQUESTS - 1)
    assert asyncio.run(http_client.fetch("a")) == b"a None {}"
    assert http_client.OpenFetches.count == http_client.MAX_REQUESTS - 1
    monkeypatch.setattr(http_client.OpenFetches, "count", http_client.MAX_REQUESTS)
    with pytest.raises(UnavailableError, match="too many"):
        asyncio.run(http_client.fetch("a"))


@pytest.mark.parametrize(
    ("key", "is_one"),
    [
        ({"kty": "RSA"}, True), ({"kty": "EC", "crv": "P-256"}, True), ({"kty": "EC", "crv": "P-999"}, False), ({"kty": "oct"}, False), ({"kty": "OKP", "crv": "Ed25519"}, True),
        ({"kty": "RSA", "use": "enc"}, False), ({"kty": "RSA", "use": "sig"}, True), ({"kty": "RSA", "key_ops": ["verify"]}, True), ({"kty": "RSA", "key_ops": ["sign"]}, False),
        ({"kty": "RSA", "alg": "RS256"}, True), ({"kty": "RSA", "alg": "ES256"}, False), ({"kty": "RSA", "key_ops": "sign"}, True),
    ],
)  # fmt: skip
def test_a_key_is_for_signatures(key: Any, is_one: bool) -> None:
    assert is_for_signatures(key) is is_one


def test_keys_are_due_when_they_are_old_or_unknown() -> None:
    clock = [1000.0]
    found = SigningKeys(None, lambda: clock[0])  # type: ignore[arg-type]
    assert not found.are_usable and found.is_due("a", "RS256")
    rows = [{"kty": "RSA", "kid": name, "n": "AQAB", "e": "AQAB"} for name in ("a", "b")]
    found.take(json.dumps({"keys": [*rows, *[{**rows[0], "kid": str(number)} for number in range(70)]]}).encode())
    due = [
        found.is_due("a", "RS256"),
        found.is_due("61", "RS256"),
        found.is_due("62", "RS256"),
        found.is_due(None, "ES256"),
    ]
    assert due == [False, False, True, True]
    found._next = 1700.0
    clock[0] = 1000.0 + jwt.FRESH_SECONDS
    assert [found.is_due("a", "RS256"), found.is_due("x", "RS256")] == [False, False]
    clock[0] += 0.5
    assert not found.is_due("a", "RS256")
    found._next = clock[0]
    assert found.is_due("a", "RS256")
    clock[0] = 1000.0 + jwt.STALE_SECONDS
    assert found.are_usable
    clock[0] += 0.5
    found._next = clock[0] + 5
    assert not found.are_usable and found.is_due("a", "RS256")
    assert found.find("none", "RS256") is found.find(None, "RS256") is None
    assert metadata_urls("https://h/a/") == [
        "https://h/.well-known/oauth-authorization-server/a",
        "https://h/.well-known/openid-configuration/a",
        "https://h/a/.well-known/openid-configuration",
    ]


@pytest.mark.parametrize(
    ("address", "source"),
    [("192.0.2.1", "192.0.2.1"), ("2001:db8::1:2", "2001:db8::/64"), ("fe80::1%eth0", "fe80::/64"), (":x", ":x"), ("", "")],
)  # fmt: skip
def test_addresses_of_one_network_are_one_source(address: str, source: str) -> None:
    assert source_of(address) == source


def test_queries_of_unknown_tokens_have_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(introspection, "MAX_RUNNING", 3)
    monkeypatch.setattr(introspection, "MAX_RUNNING_OF_ONE", 2)
    monkeypatch.setattr(introspection, "MAX_WAITING", 4)
    monkeypatch.setattr(introspection, "MAX_WAITING_OF_ONE", 2)

    async def run() -> tuple[list[str], list[str]]:
        limits, begun, refused = IntrospectionLimits(), list[str](), list[str]()

        async def ask(name: str) -> None:
            try:
                await limits.acquire(name[0])
                begun.append(name)
            except UnavailableError:
                refused.append(name)

        tasks = [asyncio.ensure_future(ask(name)) for name in ("a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1", "d1")]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (begun, refused) == (["a1", "a2", "b1"], ["a5", "d1"])
        for source in "baabca":
            limits.release(source)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        monkeypatch.setattr(introspection, "WAIT_SECONDS", 0.01)
        limits._running["a"] = 2
        await ask("a9")
        assert not limits._waiting
        return begun, refused

    begun, refused = asyncio.run(run())
    assert begun == ["a1", "a2", "b1", "b2", "a3", "c1", "a4"] and refused == ["a5", "d1", "a9"]


def test_results_of_queries_are_cached_for_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, asked = [1000.0], list[str]()
    answers = {
        "good": {"active": True, "aud": "a", "sub": "s"},
        "short": {"active": True, "aud": "a", "exp": 1030},
        "bad": {"active": False},
    }

    async def fetch(url: str, form: bytes, headers: Any) -> bytes:
        token = form.decode().partition("=")[2].partition("&")[0]
        asked.append(token)
        return json.dumps(answers[token]).encode() if token in answers else b"[]"

    monkeypatch.setattr(introspection, "fetch", fetch)
    each = Introspection("i", "https://i/ask", "id:secret", lambda: clock[0])

    def ask(token: str) -> Any:
        async def run() -> Any:
            found: Any = each.verify(token, frozenset("a"), lambda: "192.0.2.1")
            return await found if not isinstance(found, dict) else found

        try:
            return asyncio.run(run())["aud"]
        except (InvalidTokenError, UnavailableError) as problem:
            return type(problem).__name__

    def rounds(*times: float) -> list[str]:
        asked.clear()
        for clock[0] in times:
            for token in answers:
                ask(token)
        return asked

    assert [ask(token) for token in (*answers, "odd")] == ["a", "a", "InvalidTokenError", "UnavailableError"]
    assert rounds(1000.0, 1004.5) == []
    assert rounds(1005.0) == ["bad"]
    assert rounds(1029.5) == ["bad"]
    assert rounds(1030.0) == ["short"]
    assert rounds(1059.5, 1060.0) == ["short", "bad", "good", "short"]
    monkeypatch.setattr(introspection, "MAX_CACHED", 1)
    assert rounds(1061.0, 1061.5, 1062.0)[:3] == ["short", "good", "short"]
    cache = {b"a": 1, b"b": 2}
    introspection.make_room(cache)
    assert cache == {}
