"""What changed is told to whoever asked: streams of the stateless era by their filter, sessions of the other one."""

import pytest

from support.asgi import Client, reply, request, served
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
