"""The transport of 2024-11-05, where it is asked for: a stream is the session, and ends with it."""

import asyncio

from asgi import Client, request, served
from http_sample import quiet as small
from http_sample import sample
from messages import valid

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
    stage = client.application.stages[0]
    assert not stage.sessions.by_session and not client.application._elders._known


@served(sample, sse=True)
async def test_what_runs_ends_with_the_stream(client: Client, tmp_path):
    answer, path = await opened(client)
    await say(client, path, request("tools/call", {"name": "marked", "arguments": {"text": str(tmp_path / "a")}}))
    await asyncio.sleep(0.4)
    await answer.leave()
    for _ in range(200):
        await asyncio.sleep(0.05)
        if (tmp_path / "a").exists():
            break
    assert (tmp_path / "a").read_text() == "ended"


@served(sample, sse=True)
async def test_refusals(client: Client):
    answer, path = await opened(client)
    await say(client, path, b"{", 400)
    await say(client, path, [request("ping")], 400)
    await say(client, "/messages?session_id=made-up", request("ping"), 404)
    await say(client, "/messages", request("ping"), 404)
    assert (await client.send("GET", path="/messages")).status == 405
    assert (await client.send("POST", path="/sse")).status == 405
    assert (await client.send("GET", ("origin", "http://evil.example"), path="/sse")).status == 403
    assert (await client.send("GET", ("host", "evil.example"), path="/sse")).status == 421
    assert (await client.post(request("ping"), ("content-type", "text/plain"), path=path)).status == 415
    assert len(client.application._elders._known) == 1
    await answer.leave()


@served(sample, sse=True, max_streams=1)
async def test_streams_are_numbered(client: Client):
    answer, _ = await opened(client)
    assert (await client.send("GET", path="/sse")).status == 503
    await answer.leave()
    answer, _ = await opened(client)
    await answer.leave()


@served(sample, sse=True)
async def test_streams_end_when_the_server_stops(client: Client):
    answer, _ = await opened(client)
    await client.application.shutdown()
    assert await answer.messages() == []


@served(small)
async def test_it_is_not_there_unless_it_was_chosen(client: Client):
    assert (await client.send("GET", path="/sse")).status == 404
