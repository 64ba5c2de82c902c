"""bx-mcp's endpoint and whatever is sent to it: wrong in shape, in size, in time, and from those who may not ask."""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpc_runtime.artifact.start_options import StartOptions, apply_start_options
from mcpc_runtime.http.app import Application
from mcpc_runtime.http.principals import MisconfiguredError
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.tool_choice import ANY_CHARACTER, ToolSelection, matches
from mcpc_runtime.systems.bx.auth import Origins, build_authenticator
from support.artifact import built_fixture, carried
from support.asgi import HOST, Client
from support.images import archive, image_of
from support.processes import until
from support.serving import served

pytestmark = pytest.mark.sampled(2)

PATH = "/~bxmcp/boxlang.bxm"
TOKEN, OTHER = "admin-token-0123456789", "other-token-0123456789"
TOOLS = """
from mcpc import mcp_prompt, mcp_resource, mcp_tool
@mcp_tool("A")
def a_get(text: str): return text
@mcp_tool("B")
def b_get(): return 1
@mcp_tool("C")
def c_set(): return 1
@mcp_prompt
def ask(topic: str): return topic
@mcp_resource
def note(): return "n"
"""
SLOW = """
import pathlib, time
from mcpc import mcp_tool
@mcp_tool
def marked(path: str):
    try:
        pathlib.Path(path + ".begun").write_text("")
        for _ in range(2000):
            time.sleep(0.01)
    finally:
        pathlib.Path(path).write_text("ended")
@mcp_tool
def quick(): return "quick"
"""


def boxlang(**settings: Any) -> str:
    return json.dumps({"modules": {"bxmcp": {"settings": settings}}})


@cache
def image(said: str = "", page: int = 0) -> Image:
    files: dict[str, str | bytes] = {"tools.py": TOOLS, **({"boxlang.json": said} if said else {})}
    return image_of(archive(files, tools_page_size=page).data)


def run(
    scenario: Callable[[Client], Awaitable[None]],
    said: str = "",
    page: int = 0,
    found: Image | None = None,
    **chosen: Any,
) -> None:
    async def whole() -> None:
        served_image = image(said, page) if found is None else found
        tokens = build_authenticator(served_image.index["bx"], {})
        application = Application(served_image, HttpSettings(grace_seconds=2.0, authenticator=tokens, **chosen))
        application.begin()
        try:
            async with asyncio.timeout(60):
                await scenario(Client(application))
        finally:
            await application.shutdown()

    asyncio.run(whole())


async def post(client: Client, message: Any, *headers: tuple[str, str]) -> tuple[int, dict[str, str], Any]:
    answer = await client.post(message, ("accept", "application/json"), *headers, path=PATH)
    body = await answer.body()
    return answer.status, answer.headers, json.loads(body) if body else None


def test_of_two_keys_the_last_one_counts_and_a_lone_surrogate_comes_back() -> None:
    async def scenario(client: Client) -> None:
        answer = (await post(client, b'{"method":"tools/list","method":"ping","id":1,"id":"\\ud800"}'))[2]
        assert answer == {"jsonrpc": "2.0", "id": "\ud800", "result": {}}

    run(scenario)


def test_only_chosen_tools_are_listed_and_called() -> None:
    async def scenario(client: Client) -> None:
        async def asked(method: str, **params: Any) -> Any:
            return (await post(client, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))[2]

        assert [one["name"] for one in (await asked("tools/list"))["result"]["tools"]] == ["a_get"]
        assert (await asked("tools/call", name="b_get"))["error"] == {
            "code": -32001,
            "message": "Tool not found: b_get",
        }

    found = image_of(archive({"tools.py": TOOLS}).data)
    apply_start_options((found,), StartOptions(["a_*"]))
    run(scenario, found=found)


def test_a_body_that_is_too_long_is_not_read() -> None:
    async def scenario(client: Client) -> None:
        fits_well = {"method": "ping", "id": "x" * 100}
        assert (await post(client, fits_well))[0] == 200
        status, headers, answer = await post(client, {"method": "ping", "id": "x" * 300})
        assert (status, answer["error"]["code"], headers["connection"]) == (413, -32600, "close")
        chunks = [b'{"method":"ping","id":"', b"x" * 300, b'"}']
        answer = await client.open("POST", PATH, [HOST], chunks)  # no length is said
        assert answer.status == 413
        for length in (b"-1", b"1e3", b"9" * 30):
            answer = await client.open("POST", PATH, [HOST, (b"content-length", length)], [b"{}"])
            assert answer.status in (400, 413)
        answer = await client.open("POST", PATH, [HOST, (b"content-encoding", b"gzip")], [b"{}"])
        assert answer.status == 415

    run(scenario, boxlang(maxRequestBodySize=200))


def test_a_body_that_does_not_come_is_waited_for_so_long_and_no_longer() -> None:
    async def scenario(client: Client) -> None:
        async def receive() -> Any:
            if not sent:
                sent.append(1)
                return {"type": "http.request", "body": b'{"method"', "more_body": True}
            return await asyncio.sleep(30)

        async def send(message: Any) -> None:
            answers.append(message)

        sent: list[int] = []
        answers: list[Any] = []
        scope = {"type": "http", "method": "POST", "path": PATH, "query_string": b"", "headers": [HOST]}
        await client.application(scope, receive, send)
        assert answers[0]["status"] == 408

    run(scenario, body_seconds=0.1)


@pytest.mark.parametrize("name", ["authorization", "x-api-key", "x-request-id", "host", "origin", "content-length"])
def test_what_decides_is_said_once(name: str) -> None:
    async def scenario(client: Client) -> None:
        pairs = [HOST, (name.encode(), b"1"), (name.encode(), b"2")]
        assert (await client.open("POST", PATH, pairs, [b"{}"])).status == 400

    run(scenario)


def test_a_token_is_a_key_or_a_bearer_and_nothing_else() -> None:
    said = boxlang(authToken=[{"token": TOKEN}, {"token": OTHER, "profile": "readonly"}])

    async def scenario(client: Client) -> None:
        async def names(*headers: tuple[str, str]) -> Any:
            status, _, answer = await post(client, {"method": "tools/list"}, *headers)
            return [tool["name"] for tool in answer["result"]["tools"]] if status == 200 else answer["error"]["code"]

        everything = ["a_get", "b_get", "c_set"]
        assert await names(("authorization", f"Bearer {TOKEN}")) == everything
        assert await names(("x-api-key", TOKEN)) == everything
        assert await names(("authorization", f"Bearer {OTHER}")) == ["a_get", "b_get"]
        for wrong in (
            "",
            TOKEN[:-1],
            TOKEN + "0",
            TOKEN.upper(),
            f"{TOKEN} ",
            f"{TOKEN},{OTHER}",
            "é",
            "a b",
            "x" * 9000,
        ):
            for header in (("x-api-key", wrong), ("authorization", f"Bearer {wrong}")):
                found = await names(header)
                assert found == (everything if wrong == f"{TOKEN} " else -32002), header
        for scheme in ("bearer", "Basic", "Token", ""):
            assert await names(("authorization", f"{scheme} {TOKEN}")) == -32002
        assert await names(("cookie", f"token={TOKEN}")) == -32002
        # A key beside a header of authorization is not looked at: nobody knows which of them a proxy saw.
        assert await names(("x-api-key", TOKEN), ("authorization", "Bearer wrong")) == -32002
        answer = await client.send("GET", path=PATH)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")

    run(scenario, said)


def test_a_token_that_may_not_see_a_tool_cannot_call_it_by_either_way() -> None:
    said = boxlang(authToken=[{"token": OTHER, "includedTools": ["?_get"], "excludedTools": ["b*"]}])

    async def scenario(client: Client) -> None:
        key = ("authorization", f"Bearer {OTHER}")
        for name in ("b_get", "c_set", "none"):
            message = {"method": "tools/call", "params": {"name": name}}
            assert (await post(client, message, key))[2]["error"]["code"] == -32001
        beside = await client.ask("tools/list", None, key)
        assert [tool["name"] for tool in beside["result"]["tools"]] == ["a_get"]

    run(scenario, said)


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:8000", None, 200),
        ("evil.example", None, 421),
        ("127.0.0.1:8000", "https://app.example.com", 200),
        ("evil.example", "https://app.example.com", 421),
        ("127.0.0.1:8000", "https://evil.example", 403),
        ("127.0.0.1:8000", "null", 403),
        ("127.0.0.1:8000", "https://x.example.org", 200),
    ],
)
def test_pages_and_names_that_may_ask(host: str, origin: str | None, status: int) -> None:
    async def scenario(client: Client) -> None:
        more = [] if origin is None else [("origin", origin)]
        found, headers, _ = await post(client, {"method": "ping"}, ("host", host), *more)
        assert found == status
        shared = status != 403 and origin is not None and "example" in origin
        assert headers.get("access-control-allow-origin") == (origin if shared else None)
        assert headers["vary"] == "origin"

    run(scenario, boxlang(corsAllowedOrigins=["https://app.example.com", "*.example.org"]))


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*", ["https://a.example", "http://localhost:3000"], ["null", "", "a.example", "ftp://a.example"]),
        ("*.a.example", ["https://b.a.example", "http://c.b.a.example:8080"], ["https://a.example", "https://ba.example"]),
        ("https://*.a.example", ["https://b.a.example"], ["http://b.a.example", "https://a.example"]),
        ("https://*.a.example:8443", ["https://b.a.example:8443"], ["https://b.a.example"]),
        ("http://a.example:80", ["http://a.example"], ["https://a.example"]),
        ("https://a.example", ["https://a.example:443"], ["https://a.example.", "https://a.example@b", "https://a.example/x"]),
    ],
)  # fmt: skip
def test_origins(pattern: str, yes: list[str], no: list[str]) -> None:
    origins = Origins((pattern,))
    assert all(one.encode() in origins for one in yes)
    assert not any(one.encode() in origins for one in no)
    assert b"null" not in origins


def test_an_address_that_may_not_ask_is_refused_at_both_endpoints() -> None:
    async def scenario(client: Client) -> None:
        for path in (PATH, "/mcp"):
            for address, status in (("10.0.0.1", 200), ("11.0.0.1", 403)):
                sent: list[Any] = []

                async def receive() -> Any:
                    return {"type": "http.request", "body": b'{"method":"ping","jsonrpc":"2.0","id":1}'}

                async def send(message: Any, sent: list[Any] = sent) -> None:
                    sent.append(message)

                headers = [HOST, (b"content-type", b"application/json")]
                scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
                await client.application({**scope, "client": (address, 1)}, receive, send)
                assert sent[0]["status"] == (400 if path == "/mcp" and status == 200 else status)

    run(scenario, open=True, allowed_ips=("10.0.0.0/8",))


def test_a_pattern_cannot_be_made_slow() -> None:
    begun = time.process_time()
    assert not matches("*a" * 60 + "b", "a" * 20_000, ANY_CHARACTER)
    assert time.process_time() - begun < 20
    assert ToolSelection((("*",), ("b*",)))("a") and not ToolSelection((("*",), ("b*",)))("b")


@pytest.mark.parametrize(
    ("environment", "words"),
    [({}, "which is not set"), ({"SECRET": "  "}, "which is not set"), ({"SECRET": "short"}, "16 characters")],
)
def test_a_variable_without_a_good_token_lets_nobody_in(environment: dict[str, str], words: str) -> None:
    said = {"tokens": (("variable", "SECRET", (("*",), ())),)}
    with pytest.raises(MisconfiguredError, match=words) as caught:
        build_authenticator(said, environment)
    assert "short" not in str(caught.value)


slow = built_fixture({"work.py": SLOW, "boxlang.json": boxlang(authToken=TOKEN)}, "--http")


def test_a_token_is_nowhere_in_the_file(slow: Path) -> None:
    assert TOKEN.encode() not in slow.read_bytes()
    assert not [name for name in carried(slow) if "boxlang.json" in name]


def raw(url: str, body: bytes) -> socket.socket:
    host, _, port = url.partition("://")[2].partition(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


def call(path: Path) -> bytes:
    return json.dumps(
        {"method": "tools/call", "params": {"name": "marked", "args": {"path": str(path)}}, "id": 1}
    ).encode()


def test_who_leaves_in_the_middle_of_a_call_ends_it(slow: Path, tmp_path: Path) -> None:
    with served(slow) as server:
        connection = raw(server.root, call(tmp_path / "mark"))
        until((tmp_path / "mark.begun").exists)
        connection.close()
        until((tmp_path / "mark").exists)
        body = b'{"method":"tools/call","params":{"name":"quick"},"id":2}'
        with raw(server.root, body) as again:
            assert b'"text":"quick"' in again.recv(65536)


def test_who_waits_when_the_server_is_stopped_is_told(slow: Path, tmp_path: Path) -> None:
    with served(slow, "--grace", "0.2") as server:
        with raw(server.root, call(tmp_path / "mark")) as connection:
            until((tmp_path / "mark.begun").exists)
            server.process.terminate()
            answer = connection.recv(65536)
        assert b"HTTP/1.1 200" in answer
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == -32000


def test_a_path_of_its_own_and_none_if_it_is_switched_off() -> None:
    async def moved(client: Client) -> None:
        assert (await client.post({"method": "ping"}, path="/old")).status == 200
        assert (await client.post({"method": "ping"}, path=PATH)).status == 404

    run(moved, bx_path="/old")

    async def off(client: Client) -> None:
        assert (await client.post({"method": "ping"}, path=PATH)).status == 404

    run(off, boxlang(enabled=False))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
METHODS = ("ping", "initialize", "tools/list", "tools/call", "prompts/get", "resources/read", "notifications/x", "")
SAID = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(("2.0", "1.0")) | VALUES, "id": VALUES, "method": st.sampled_from(METHODS) | VALUES,
        "params": VALUES | st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(("a_get", "b_get", "ask")) | VALUES,
                "arguments": VALUES | st.dictionaries(st.sampled_from(("text", "topic", "x")), VALUES),
                "uri": st.just("bxmcp://note") | VALUES, "_meta": VALUES,
            },
        ),
    },
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(SAID | VALUES | st.binary(max_size=40), min_size=20, max_size=60))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_posted_has_one_answer(bodies: list[Any]) -> None:
    """An answer is one message of JSON-RPC, with the id that was asked for; the endpoint lives on."""

    async def scenario(client: Client) -> None:
        for body in bodies:
            status, _, answer = await post(client, body)
            assert status in (200, 202, 204)
            if answer is None:
                continue
            assert answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer)
            assert "error" not in answer or (type(answer["error"]["code"]) is int and answer["error"]["message"])
            asked = body.get("id") if isinstance(body, dict) else None
            assert answer.get("id") in (asked, None)  # none is left out where none was said
        assert (await post(client, {"method": "ping", "id": 1}))[2]["result"] == {}

    run(scenario)


def test_a_quota_counts_the_calls_of_both_endpoints() -> None:
    call = {"jsonrpc": "2.0", "id": "q", "method": "tools/call", "params": {"name": "b_get", "arguments": {}}}

    async def scenario(client: Client) -> None:
        assert (await client.modern("tools/call", call["params"])).status == 200
        assert (await post(client, call))[0] == 200
        status, headers, reply = await post(client, call)
        assert (status, headers["retry-after"], reply["id"], reply["error"]["code"]) == (429, "43200", "q", -32600)
        assert (await client.modern("tools/call", call["params"])).status == 429

    run(scenario, quotas=(("b_get", 2, "day"),))
