"""What changed is told to whoever asked: streams of the stateless era by their filter, sessions of the other one."""

import asyncio

import pytest

from support.asgi import Client, mirrors, reply, request, served, stateless
from support.http_sample import sample
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
