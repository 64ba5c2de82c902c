"""The transport of 2024-11-05, where it is asked for: a stream is the session, and ends with it."""

import time

import pytest

from mcpc_runtime.http.legacy_sse import messages_path
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.settings import HttpSettings
from support.asgi import Client, Doorman, request, served, written
from support.http_sample import sample
from support.messages import valid

OLD = "2024-11-05"


async def opened(client: Client):
    """Open a stream; return it and where messages go."""
    answer = await client.send("GET", path="/sse")
    assert (answer.status, answer.is_stream) == (200, True)
    event = await answer.event()
    assert event["event"] == "endpoint"
    return answer, event["data"]


async def say(client: Client, path: str, message, status: int = 202):
    answer = await client.post(message, path=path)
    assert answer.status == status, await answer.body()


@served(sample, sse=True)
async def test_a_conversation(client: Client):
    answer, path = await opened(client)
    params = {"protocolVersion": OLD, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}
    await say(client, path, request("initialize", params))
    found = valid(OLD, "JSONRPCMessage", await answer.message())
    assert valid(OLD, "InitializeResult", found["result"])["protocolVersion"] == OLD
    await say(client, path, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    tell = {"name": "tell", "arguments": {}, "_meta": {"progressToken": "p"}}
    await say(client, path, request("tools/call", tell, 2))
    await say(client, path, request("ping", None, 3))
    found = [valid(OLD, "JSONRPCMessage", await answer.message()) for _ in range(5)]
    assert [message["id"] for message in found if "id" in message] == [3, 2]
    await say(client, path, request("no/such", None, 4))
    assert (await answer.message())["error"]["code"] == -32601
    await say(client, path, {"id": 1})
    assert (await answer.message())["error"]["code"] == -32600
    await say(client, path, request("logging/setLevel", {"level": "error"}, 5))
    await answer.message()
    await client.ask("tools/call", {"name": "change", "arguments": {"text": "tools"}})
    assert (await answer.message())["method"] == "notifications/tools/list_changed"
    await answer.leave()
    await say(client, path, request("ping"), 404)
    driver = client.application.drivers[0]
    assert not driver.sessions.by_session and not client.application.legacy_sse._sessions


@served(sample, sse=True)
async def test_what_runs_ends_with_the_stream(client: Client, tmp_path):
    answer, path = await opened(client)
    await say(client, path, request("tools/call", {"name": "marked", "arguments": {"text": str(tmp_path / "a")}}))
    await written(tmp_path / "a.begun")
    await answer.leave()
    await written(tmp_path / "a")


@served(sample, sse=True, max_streams=1)
async def test_streams_are_numbered(client: Client):
    answer, _ = await opened(client)
    assert (await client.send("GET", path="/sse")).status == 503
    await answer.leave()
    answer, _ = await opened(client)
    await answer.leave()


def who(name, path):
    """Say who it is: one whose token ends soon, and sees one tool less unless there is a plus."""
    allows = None if "+" in name else "quick".__ne__
    return Principal(name.removesuffix("+"), expires=time.time() + 0.5, allows=allows) if name else None


@served(sample, sse=True, authenticator=Doorman(who))
async def test_what_a_token_does_not_grant_is_refused_here_too(client: Client):
    ann = ("authorization", "ann")
    assert (await client.send("GET", path="/sse")).status == 401
    answer = await client.send("GET", ann, path="/sse")
    event = await answer.event()
    late = request("tools/call", {"name": "late", "arguments": {"seconds": 0}})
    assert (await client.post(late, ann, path=event["data"])).status == 403
    assert (await client.post(request("ping"), ("authorization", "bob"), path=event["data"])).status == 404
    listed = []
    for token in ("ann", "ann+"):
        await client.post(request("tools/list"), ("authorization", token), path=event["data"])
        listed.append([tool["name"] for tool in (await answer.message())["result"]["tools"]])
    assert "quick" not in listed[0] and "quick" in listed[1], "it is the token of this request that says what is seen"
    assert await answer.messages() == [], "the stream ends with the token that opened it"


@served(sample, sse=True)
async def test_streams_end_when_the_server_stops(client: Client):
    answer, _ = await opened(client)
    await client.application.shutdown()
    assert await answer.messages() == []


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "/messages"),
        ("https://h", "/messages"),
        ("https://h/mcp", "/messages"),
        ("https://h/svc/mcp", "/svc/messages"),
        ("https://h:1/a/b/mcp/", "/a/b/messages"),
        ("https://h/svc", "/messages"),
    ],
)
def test_messages_go_below_the_path_of_a_proxy(url: str, path: str) -> None:
    assert messages_path(HttpSettings(url=url)) == path
