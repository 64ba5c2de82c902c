"""Who may call, through the application and through a built file: refused before a body is read, and each with their own view of the server."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.auth.configure import authenticator
from mcpc_runtime.http.auth.oauth import WELL_KNOWN
from mcpc_runtime.http.principals import Denied, deny
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.image import Image
from support.artifact import build
from support.asgi import HOST, TYPE, Client, mirrors, stateless
from support.files import write_files
from support.images import archive, image_of, project, tool
from support.issuer import serving
from support.posts import Answer, fetch, post_stateless
from support.serving import served

TOKENS = "admin the-token-of-admin;reader the-token-of-reader read_*;other the-token-of-other"
ADMIN, READER, OTHER = (("authorization", f"Bearer the-token-of-{name}") for name in ("admin", "reader", "other"))
URL = "https://mcp.example.com/mcp"


@cache
def image() -> Image:
    return image_of(archive(project([tool(name) for name in ("read_a", "read_b", "write_a")])).data)


def run(scenario: Callable[[Client], Awaitable[None]], environment: dict[str, str], **chosen: Any) -> None:
    async def whole() -> None:
        settings = HttpSettings(grace_seconds=2.0, **chosen)
        application = Application(image(), settings.but(authenticator=authenticator(settings, environment)))
        application.begin()
        try:
            async with asyncio.timeout(60):
                await scenario(Client(application))
        finally:
            await application.shutdown()

    asyncio.run(whole())


def with_tokens(scenario: Callable[[Client], Awaitable[None]], **chosen: Any) -> None:
    run(scenario, {"MCPC_TOKENS": TOKENS}, **chosen)


async def untouched(client: Client, headers: list[tuple[bytes, bytes]], path: str = "/mcp") -> int:
    """The status of a POST whose body must not be read: reading it is the failure."""
    sent: list[Any] = []

    async def receive() -> Any:
        pytest.fail("the body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    where, _, query = path.partition("?")
    scope = {"type": "http", "method": "POST", "path": where, "query_string": query.encode(), "http_version": "1.1"}
    await client.application({**scope, "headers": [HOST, TYPE, *headers]}, receive, send)
    names = {name for name, _ in sent[0]["headers"]}
    assert b"www-authenticate" in names or sent[0]["status"] == 400
    assert b"mcp-session-id" not in names
    assert b"cache-control" in names and b"x-content-type-options" in names
    return int(sent[0]["status"])


def bearer(token: str) -> tuple[bytes, bytes]:
    return b"authorization", f"Bearer {token}".encode()


def test_without_a_good_token_no_body_is_read_and_nothing_is_kept() -> None:
    async def scenario(client: Client) -> None:
        good = "the-token-of-admin"
        assert await untouched(client, []) == 401
        for token in ("x", good[:-1], good + "x", good.upper()):
            assert await untouched(client, [bearer(token)]) == 401
        assert await untouched(client, [(b"authorization", f"bearer {good}".encode())]) == 401
        assert await untouched(client, [bearer(good), bearer(good)]) == 400
        assert await untouched(client, [], f"/mcp?access_token={good}&token={good}") == 401
        assert await untouched(client, [(b"authorization", b"Bearer")]) in (400, 401)
        (driver,) = client.application.drivers
        assert not driver.posts and not driver.sessions.by_session and driver.dispatcher is None

    with_tokens(scenario)


async def names(client: Client, *headers: tuple[str, str]) -> list[str]:
    result = (await client.ask("tools/list", {}, *headers))["result"]
    assert result["cacheScope"] == "private", "others see less, and a cache that all share must not show them more"
    return [one["name"] for one in result["tools"]]


def test_each_sees_and_calls_their_own_tools() -> None:
    async def scenario(client: Client) -> None:
        assert await names(client, ADMIN) == ["read_a", "read_b", "write_a"]
        assert await names(client, READER) == ["read_a", "read_b"]
        hidden = await client.modern("tools/call", {"name": "write_a", "arguments": {}}, READER)
        unknown = await client.modern("tools/call", {"name": "write_b", "arguments": {}}, READER)
        assert (hidden.status, unknown.status) == (400, 400)
        one, two = json.loads(await hidden.body()), json.loads(await unknown.body())
        assert one["error"]["code"] == -32602
        assert one["error"]["message"] == two["error"]["message"].replace("write_b", "write_a")
        called = await client.ask("tools/call", {"name": "read_a", "arguments": {"x": 1}}, READER)
        assert called["result"]["content"]

    with_tokens(scenario)


def test_the_way_to_a_token_is_told_and_scopes_are_asked_for_when_they_are_needed() -> None:
    with serving() as issuer:

        def of(scope: str, **claims: Any) -> tuple[str, str]:
            return "authorization", "Bearer " + issuer.token(1, scope=scope, **claims)

        async def scenario(client: Client) -> None:
            refused = await client.modern("tools/list")
            assert refused.status == 401
            where = f'resource_metadata="https://mcp.example.com{WELL_KNOWN}/mcp", scope="mcp"'
            assert refused.headers["www-authenticate"] == f"Bearer {where}"
            document = await client.send("GET", path=f"{WELL_KNOWN}/mcp")
            assert document.status == 200 and document.headers["content-type"] == "application/json"
            assert json.loads(await document.body())["authorization_servers"] == [issuer.url]
            assert await names(client, of("mcp")) == ["read_a", "read_b", "write_a"]
            assert (await client.modern("tools/list", {}, of("other"))).status == 403
            assert (await client.modern("tools/list", {}, of("mcp", aud="https://other.example.com"))).status == 401
            call = {"name": "write_a", "arguments": {}}
            lacking = await client.modern("tools/call", call, of("mcp"))
            assert lacking.status == 403 and 'scope="mcp mcp:write"' in lacking.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in lacking.headers["www-authenticate"]
            assert (await client.modern("tools/call", call, of("mcp mcp:write"))).status == 200
            body = json.dumps(stateless("tools/call", call)).encode()
            late = await client.post(body, *mirrors("tools/call", call), of("mcp"))
            assert late.status == 403

        run(scenario, {}, url=URL, issuer=issuer.url, jwks=f"{issuer.url}/jwks", scopes=("mcp", "write_*=mcp:write"), hosts=("mcp.example.com",))  # fmt: skip


@pytest.mark.parametrize(("raw", "status"), [(b"/mcp", 405), (b"/%6dcp", 404), (b"/mcp%2f", 404), (b"/mcp?x=%20", 405)])
def test_another_server_s_raw_path_decides(raw: bytes, status: int) -> None:
    async def scenario(client: Client) -> None:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/mcp", "raw_path": raw, "query_string": b""}
        await client.application({**scope, "headers": [HOST, bearer("the-token-of-admin")]}, receive, send)
        assert sent[0]["status"] == status

    with_tokens(scenario)


def test_who_is_asked_about_is_known_by_their_address() -> None:
    """What a trusted proxy tells counts, and of anybody else the connection's other end."""
    found: list[str] = []

    async def scenario(client: Client) -> None:
        gate = client.application.settings.authenticator
        gate._oauth = Noting(found)
        for peer, told in (("192.0.2.1", "203.0.113.9"), ("198.51.100.7", "203.0.113.9")):
            headers = [HOST, TYPE, bearer("opaque-token-of-somebody"), (b"x-forwarded-for", told.encode())]
            scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "client": (peer, 7)}
            await client.application({**scope, "headers": headers}, nothing, ignore)
        assert found == ["203.0.113.9", "198.51.100.7"]

    with_tokens(scenario, proxies=("192.0.2.0/24",))


class Noting:
    """Takes no token, and notes where each came from."""

    def __init__(self, found: list[str]) -> None:
        self.found = found

    def check(self, token: str, path: str, source: Callable[[], str]) -> Denied:
        self.found.append(source())
        return deny(401)


async def nothing() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def ignore(message: Any) -> None:
    return


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guarded")
    write_files(folder, project([tool("read_a"), tool("write_a")]))
    return build(folder, folder / "server.pyz", "--http")


def status(url: str, token: str = "") -> int:
    return fetch(url, headers={"Authorization": f"Bearer {token}"} if token else {}).status


def test_a_token_file_and_metrics_from_the_command_line(artifact: Path, tmp_path: Path) -> None:
    secret = tmp_path / "tokens"
    secret.write_text("me the-token-of-mine\n")
    secret.chmod(0o600)
    with served(artifact, "--token-file", str(secret), "--metrics") as server:
        assert status(f"{server.root}/metrics") == 401
        assert status(f"{server.root}/metrics", "the-token-of-nobody") == 401
        assert status(f"{server.root}/metrics", "the-token-of-mine") == 200
        assert status(f"{server.root}/healthz") == 200
        assert b"the-token-of" not in server.errors.read_bytes()


def call(url: str, name: str, token: str) -> Answer:
    return post_stateless(url, "tools/call", {"name": name, "arguments": {}}, authorization=f"Bearer {token}")


@pytest.mark.slow
def test_an_authorization_server_and_a_collector_of_spans(tmp_path: Path) -> None:
    """With the packages that the file carries itself: PyJWT, cryptography, OpenTelemetry."""
    write_files(tmp_path, project([tool("read_a"), tool("write_a")]))
    artifact = build(tmp_path, tmp_path / "server.pyz", "--oauth", "--otel")
    with serving() as issuer:
        issuer.answers["/v1/traces"] = (200, {}, b"")
        options = ["--issuer", issuer.url, "--jwks", f"{issuer.url}/jwks", "--url", "https://mcp.example.com/mcp"]
        options += ["--scope", "mcp", "--scope", "write_*=mcp:write", "--metrics", "--otel"]
        given = {"OTEL_EXPORTER_OTLP_ENDPOINT": issuer.url}
        with served(artifact, *options, environment=given) as server:
            for number in range(3):
                assert call(server.url, "read_a", issuer.token(number, scope="mcp")).status == 200
            refused = call(server.url, "write_a", issuer.token(scope="mcp"))
            assert refused.status == 403 and 'scope="mcp mcp:write"' in refused.headers["www-authenticate"]
            assert call(server.url, "read_a", issuer.token(aud="https://other.example.com")).status == 401
            assert status(f"{server.root}/.well-known/oauth-protected-resource/mcp") == 200
            bearer = {"authorization": f"Bearer {issuer.token(scope='mcp')}"}
            shown = fetch(f"{server.root}/metrics", headers=bearer).body.decode()
        assert 'mcpc_requests_total{method="tools/call",status="200"} 3' in shown
        assert 'mcpc_requests_total{method="tools/call",status="403"} 1' in shown
        assert 'mcpc_calls_total{kind="tool",name="read_a",outcome="success"} 3' in shown
        (spans,) = [body for path, body, _ in issuer.asked if path == "/v1/traces"]
        assert spans.count(b"tools/call read_a") == 3
