"""JSON or a stream: decided late, ended well, resumed where a revision has that; and the transport of 2024-11-05."""

import asyncio
import json
import time
from itertools import count

import pytest

from mcpc_runtime.http.legacy_sse import messages_path
from mcpc_runtime.http.memory_budget import MemoryBudget
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.http.streams import SseResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server import handler_messages
from support.asgi import HOST, TYPE, Client, Doorman, mirrors, reply, request, served, stateless, until, written
from support.http_sample import sample
from support.messages import STATELESS, valid

NUMBERS = count(100)


def call(name: str, identifier: object = 1, **arguments) -> dict:
    return request("tools/call", {"name": name, "arguments": arguments, "_meta": {"progressToken": "p"}}, identifier)


@pytest.mark.parametrize(("tool", "is_stream"), [
    ("echo", False), ("quick", False), ("marked", False), ("held", False), ("tell", True), ("marked", True), ("held", True),
])  # fmt: skip
@pytest.mark.sampled(2)
def test_an_answer_is_json_if_it_comes_first_and_soon(tool, is_stream, tmp_path, monkeypatch):
    monkeypatch.setattr(handler_messages, "PROGRESS_SECONDS", 0.0)

    @served(sample, decide_seconds=0.05 if is_stream else 60.0)
    async def scenario(client: Client):
        arguments = {} if tool == "tell" else {"text": str(tmp_path / "mark")}
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}}
        asked = asyncio.create_task(client.modern("tools/call", params))
        if not is_stream and tool in ("marked", "held"):
            await written(tmp_path / "mark.begun")
            (tmp_path / "mark.go").touch()
        answer = await asked
        (tmp_path / "mark.go").touch()
        assert answer.status == 200
        assert answer.is_stream is is_stream
        found = await answer.messages() if is_stream else [json.loads(await answer.body())]
        for message in found:
            valid(STATELESS, "JSONRPCMessage", message)
        valid(STATELESS, "CallToolResult", found[-1]["result"])
        assert [message["params"]["progress"] for message in found[:-1]] == ([0, 1, 2] if tool == "tell" else [])
        if is_stream:
            assert answer.headers["x-accel-buffering"] == "no"
        await asyncio.wait_for(answer.task, 5)
        assert not client.application.drivers[0].posts

    scenario()


@served(sample, comment_seconds=0.05, decide_seconds=0.05)
async def test_a_silent_stream_shows_that_it_lives(client: Client, tmp_path):
    answer = await client.modern("tools/call", {"name": "marked", "arguments": {"text": str(tmp_path / "a")}})
    while answer.buffer != b":\n\n" * 3:
        await answer.more()
    (tmp_path / "a.go").touch()
    assert (await answer.body()).endswith(b"}\n\n")


def test_a_large_event_is_charged_until_its_last_part_is_sent():
    """The whole of it is kept as long: a client that stops before the end would hold memory that nobody is charged for."""
    account = MemoryBudget().account("someone")
    response = SseResponse(account)
    size, part = 10 << 17, 1 << 17
    response.write(b"x" * size)
    response.write(b"small")
    sent = 0
    while sent < size - part:
        sent += len(response._next_chunk())
        assert account.held >= size
    assert sent + len(response._next_chunk() + response._next_chunk()) == size + len(b"small")
    assert not account.held
    assert not response.size


@served(sample, decide_seconds=60.0)
async def test_a_stateless_client_that_leaves_before_there_is_a_stream_has_cancelled(client: Client, tmp_path):
    params = {"name": "marked", "arguments": {"text": str(tmp_path / "a")}}
    asked = asyncio.create_task(client.modern("tools/call", params))
    await written(tmp_path / "a.begun")
    (post,) = client.application.drivers[0].posts
    post._disconnected()
    await asked
    await written(tmp_path / "a")
    assert not client.application.drivers[0].posts


@served(sample, decide_seconds=0.05)
async def test_a_disconnect_is_seen(client: Client, tmp_path):
    answer = await client.modern("tools/call", {"name": "marked", "arguments": {"text": str(tmp_path / "a")}})
    assert answer.is_stream
    await written(tmp_path / "a.begun")
    await answer.leave()
    await written(tmp_path / "a")
    assert not client.application.drivers[0].posts


@served(sample)
async def test_a_legacy_client_that_leaves_has_not_cancelled(client: Client, tmp_path):
    await client.initialize("2025-06-18")
    answer = await client.say(call("steps", text=str(tmp_path / "a")))
    await answer.leave()
    driver = client.application.drivers[0]
    assert len(driver.posts) == 1
    assert not (tmp_path / "a").exists()
    (tmp_path / "a.go").touch()
    await until(lambda: not driver.posts)


@served(sample, write_seconds=0.1, decide_seconds=0.05)
async def test_a_client_that_takes_nothing_is_given_up(client: Client, tmp_path):
    taken = []

    async def receive():
        if not taken:
            taken.append(1)
            return {"type": "http.request", "body": body, "more_body": False}
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.body":
            await asyncio.sleep(60)

    params = {"name": "tell", "_meta": {"progressToken": "p"}}
    body = json.dumps(stateless("tools/call", params)).encode()
    headers = [HOST, TYPE, *((name.encode(), value.encode()) for name, value in mirrors("tools/call", params))]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    await asyncio.wait_for(client.application(scope, receive, send), 5)
    assert not client.application.drivers[0].posts


async def parted(client: Client) -> tuple[list, str]:
    """Call the tool that ends its stream in the middle; return what came, and the last event's id."""
    answer = await client.say(call("part", next(NUMBERS)))
    events = []
    while (event := await answer.event()) is not None:
        events.append(event)
    return events, events[-1]["id"]


@served(sample)
async def test_ids_are_unique_and_others_cannot_resume(client: Client):
    await client.initialize()
    first = client.session
    events, last = await parted(client)
    more, _ = await parted(client)
    ids = [event["id"] for event in events + more]
    assert len(set(ids)) == len(ids)
    await client.initialize()
    assert client.session != first
    answer = await client.send("GET", *client.names, ("last-event-id", last))
    assert answer.status == 200
    event = await answer.event()
    assert event["data"] == "" and event["id"].rpartition(".")[0] != last.rpartition(".")[0], "a stream of its own"
    await answer.leave()


@served(sample)
async def test_a_client_that_lost_its_stream_gets_the_rest(client: Client, tmp_path):
    await client.initialize()
    answer = await client.say(call("steps", text=str(tmp_path / "a")))
    first = await answer.event()
    await answer.leave()
    (tmp_path / "a.go").touch()
    await until(lambda: not client.application.drivers[0].posts)
    answer = await client.send("GET", *client.names, ("last-event-id", first["id"]))
    found = await answer.messages()
    assert found[-1]["result"]["content"][0]["text"] == "stepped"
    assert [message["params"]["progress"] for message in found[:-1]] == [1, 2]


@served(sample)
async def test_the_oldest_stream_of_a_session_ends_when_there_are_too_many(client: Client):
    await client.initialize()
    opened = [await client.send("GET", *client.names) for _ in range(6)]
    assert await opened[0].messages() == []
    assert await opened[1].messages() == []
    (conversation,) = client.application.drivers[0].sessions.live.values()
    assert len(conversation.streams) == 4


@served(sample)
async def test_each_message_is_on_one_stream(client: Client):
    await client.initialize()
    reading = await client.send("GET", *client.names)
    answers = await asyncio.gather(*[client.say(call("tell", number)) for number in range(3)])
    for number, answer in enumerate(answers):
        found = await answer.messages()
        assert [message["id"] for message in found if "id" in message] == [number]
        assert len(found) == 4
    await reading.leave()
    said = reading.buffer + b"".join([reading.chunks.get_nowait() for _ in range(reading.chunks.qsize())])
    assert b"jsonrpc" not in said


@served(sample)
async def test_a_failure_of_ours_is_the_requests_own_and_is_logged(client: Client, monkeypatch):
    driver, logged = client.application.drivers[0], []
    monkeypatch.setattr("mcpc_runtime.log.log_line", logged.append)

    def fail(*_):
        raise ZeroDivisionError("as injected")

    async def works() -> None:
        (entry,) = logged
        assert "ZeroDivisionError: as injected" in entry
        assert "Traceback (most recent call last)" in entry and ", in fail" in entry
        logged.clear()
        assert (await client.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}}))["result"]

    await client.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})
    for target, name in ((type(driver.dispatcher), "start"), (Session, "_answer")):
        with monkeypatch.context() as patch:
            patch.setattr(target, name, fail)
            found = await client.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})
            assert found["error"]["code"] == -32603
        await works()
    for have_done in (driver.ask, lambda task: driver.watch().after(0, task)):
        have_done(fail)
        await until(lambda: logged)
        await works()


@served(sample, grace_seconds=3.0)
async def test_what_runs_when_the_server_stops_is_answered(client: Client, tmp_path):
    await client.initialize()
    reading = await client.send("GET", *client.names)
    late, never = (
        asyncio.create_task(
            client.modern("tools/call", {"name": "marked", "arguments": {"text": str(tmp_path / name)}})
        )
        for name in "la"
    )
    listening = await client.modern(
        "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, identifier="s"
    )
    await written(tmp_path / "l.begun")
    await written(tmp_path / "a.begun")
    stopping = asyncio.create_task(client.application.shutdown())
    await until(lambda: not client.application.is_ready)
    (tmp_path / "l.go").touch()
    assert (await client.send("GET", path="/readyz")).status == 503
    assert (await client.modern("subscriptions/listen", {"notifications": {}})).status == 503
    assert await reading.messages() == []
    found = await listening.messages()
    assert found[-1]["id"] == "s"
    valid(STATELESS, "SubscriptionsListenResult", found[-1]["result"])
    assert (await reply(await late))["result"]["content"][0]["text"] == "late"
    assert (await reply(await never))["error"]["code"] == -32603
    await stopping


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
