"""What changed is told to whoever asked: streams of the stateless era by their filter, sessions of the other one."""

import asyncio

import pytest

from mcpc_runtime.protocol.effects import PublishChange
from support.asgi import Client, mirrors, reply, request, served, stateless
from support.http_sample import quiet, sample
from support.messages import HANDSHAKE, STATELESS, valid

TOOLS = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"
URI = "sample://text"
ID = "io.modelcontextprotocol/subscriptionId"


async def change(client: Client, text: str) -> None:
    """Have a handler say that something changed."""
    found = await client.ask("tools/call", {"name": "change", "arguments": {"text": text}})
    assert found["result"]["content"][0]["text"] == "changed", found


@served(sample)
async def test_a_stream_says_what_its_filter_lets_through(client: Client):
    wanted = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [URI]}}
    answer = await client.modern("subscriptions/listen", wanted, identifier="mine")
    other = await client.modern("subscriptions/listen", {"notifications": {"promptsListChanged": True}}, identifier=2)
    assert answer.is_stream and answer.headers["x-accel-buffering"] == "no"
    first = await answer.message()
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"]["toolsListChanged"] is True
    await change(client, "tools")
    await change(client, URI)
    await change(client, "sample://other")
    await change(client, "tools")
    found = [await answer.message() for _ in range(3)]
    assert [message["method"] for message in found] == [TOOLS, UPDATED, TOOLS]
    for message in (first, *found):
        valid(STATELESS, "JSONRPCMessage", message)
        assert message["params"]["_meta"][ID] == "mine"
    assert (await other.message())["params"]["_meta"][ID] == 2
    assert other.buffer == b"" and other.chunks.empty()
    driver = client.application.drivers[0]
    assert len(driver.listening) == len(driver.posts) == 2
    await answer.leave()
    await other.leave()
    assert not driver.listening and not driver.posts


@served(sample, comment_seconds=0.05)
async def test_many_streams_cost_what_is_said_on_them(client: Client):
    wanted = {"notifications": {"toolsListChanged": True}}
    opened = [await client.modern("subscriptions/listen", wanted, identifier=number) for number in range(200)]
    while b":\n\n" not in opened[-1].buffer:
        await opened[-1].more()
    await change(client, "tools")
    for number, answer in enumerate(opened):
        assert (await answer.message())["method"] == "notifications/subscriptions/acknowledged"
        assert (await answer.message())["params"]["_meta"][ID] == number
        await answer.leave()
    assert not client.application.drivers[0].listening


@served(sample)
async def test_a_subscription_is_a_stream_or_nothing(client: Client):
    answer = await client.modern("subscriptions/listen", {"notifications": {}}, ("accept", "application/json"))
    assert answer.status == 406
    answer = await client.modern("subscriptions/listen", {"notifications": 1})
    assert (answer.status, (await reply(answer))["error"]["code"]) == (400, -32602)
    driver = client.application.drivers[0]
    assert not driver.posts and not driver.listening


@pytest.mark.parametrize("version", HANDSHAKE[1:])
def test_a_session_is_told_on_its_stream(version):
    @served(sample)
    async def scenario(client: Client):
        await client.initialize(version)
        reading = await client.send("GET", *client.names)
        assert (await reply(await client.say(request("resources/subscribe", {"uri": URI}))))["result"] == {}
        await change(client, URI)
        await change(client, "sample://other")
        await change(client, "tools")
        found = [await reading.message(), await reading.message()]
        assert [message["method"] for message in found] == [UPDATED, TOOLS]
        for message in found:
            valid(version, "ServerNotification", valid(version, "JSONRPCMessage", message))
        await client.say(request("resources/unsubscribe", {"uri": URI}))
        await change(client, URI)
        await change(client, "tools")
        assert (await reading.message())["method"] == TOOLS
        await reading.leave()

    scenario()


@served(sample)
async def test_what_is_said_while_a_client_is_away_waits_for_it(client: Client):
    await client.initialize()
    reading = await client.send("GET", *client.names)
    primed = await reading.event()
    await reading.leave()
    await change(client, "tools")
    reading = await client.send("GET", *client.names, ("last-event-id", primed["id"]))
    assert (await reading.message())["method"] == TOOLS
    await reading.leave()


@served(sample)
async def test_only_one_of_a_sessions_streams_says_it(client: Client):
    await client.initialize()
    first, second = [await client.send("GET", *client.names) for _ in range(2)]
    await change(client, "tools")
    assert (await second.message())["method"] == TOOLS
    await second.leave()
    await change(client, "tools")
    assert (await first.message())["method"] == TOOLS, "the next best"
    await first.leave()


class Wire:
    """What carries changes between processes, without them."""

    def __init__(self, drivers):
        self.drivers = drivers
        self.published = []

    def close(self):
        self.drivers = []

    def publish(self, event):
        self.published.append((event.kind, event.uri))
        for driver in self.drivers:
            if driver.events is not self:
                driver.ask(lambda driver=driver: driver.notify_clients(event))


@served(lambda: {"/a": sample(), "/b": sample()})
async def test_changes_go_to_other_processes_and_come_from_them(client: Client):
    one, other = client.application.drivers
    one.events = Wire([one, other])
    wanted = {"notifications": {"toolsListChanged": True}}
    message = stateless("subscriptions/listen", wanted)
    answer = await client.post(message, *mirrors("subscriptions/listen"), path="/b")
    await answer.message()
    params = {"name": "change", "arguments": {"text": "tools"}}
    await client.post(stateless("tools/call", params), *mirrors("tools/call", params), path="/a")
    assert (await answer.message())["method"] == TOOLS
    assert one.events.published == [("tools", "")]
    await answer.leave()


@served(lambda: {"/a": sample(), "/b": sample()})
async def test_a_session_that_was_ended_in_one_process_has_ended_in_all(client: Client):
    one, other = client.application.drivers
    other.sessions._purpose = one.sessions._purpose  # as if it were the same path, in another process
    one.events = Wire([one, other])
    begin = request("initialize", {"protocolVersion": "2025-11-25"})
    tokens = [(await client.post(begin, path="/a")).headers["mcp-session-id"] for _ in range(2)]
    for token in tokens:
        level = request("logging/setLevel", {"level": "error"})
        assert (await client.post(level, ("mcp-session-id", token), path="/b")).status == 200
    assert len(other.sessions.live) == 2
    assert (await client.send("DELETE", ("mcp-session-id", tokens[0]))).status == 404, "no such path"
    assert (await client.send("DELETE", ("mcp-session-id", tokens[0]), path="/a")).status == 204
    await asyncio.sleep(0)
    assert list(other.sessions.live) == tokens[1:]
    statuses = [(await client.post(request("ping"), ("mcp-session-id", token), path="/b")).status for token in tokens]
    assert statuses == [404, 200]
    assert tokens[0] not in str(one.events.published), "what is told of it lets nobody in"


@served(quiet)
async def test_a_server_that_never_changes_promises_nothing(client: Client):
    answer = await client.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    found = await reply(answer) if not answer.is_stream else await answer.message()
    if answer.is_stream:
        assert found["params"]["notifications"] == {}
        await answer.leave()
    else:
        assert (answer.status, found["error"]["code"]) == (404, -32601)
    client.application.drivers[0].publish(PublishChange("tools"))


@served(sample)
async def test_who_reads_too_slowly_is_given_up_not_waited_for(client: Client, monkeypatch):
    monkeypatch.setattr("mcpc_runtime.http.streams.MAX_UNSENT_NOTIFIED", 2000)
    wanted = {"notifications": {"toolsListChanged": True}}
    answer = await client.modern("subscriptions/listen", wanted)
    (post,) = client.application.drivers[0].posts
    driver = client.application.drivers[0]
    for _ in range(1000):
        driver.publish(PublishChange("tools"))
    driver.run_queued()
    assert post.response.size < 3000
    await answer.leave()
