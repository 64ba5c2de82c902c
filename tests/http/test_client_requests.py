"""What a handler asks and what has changed goes where its revision has it: to the stream, session or answer that it belongs to."""

import pytest

from support.asgi import Client, reply, request, served
from support.http_sample import sample
from support.messages import HANDSHAKE, STATELESS, valid

ELICITING = ("2025-06-18", "2025-11-25")
ELICIT = {"name": "elicit", "arguments": {}}


def accepted(asked: dict, **content: object) -> dict:
    return {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": content}}


@pytest.mark.parametrize("version", ELICITING)
def test_a_session_is_asked_on_the_stream_of_its_request(version):
    @served(sample)
    async def scenario(client: Client):
        await client.initialize(version, {"elicitation": {}})
        reading = await client.send("GET", *client.names)
        answer = await client.say(request("tools/call", ELICIT, 5))
        assert answer.is_stream
        asked = valid(version, "ElicitRequest", valid(version, "JSONRPCMessage", await answer.message()))
        assert asked["params"]["message"] == "Who?"
        done = await client.say(accepted(asked, name="Ann"))
        assert (done.status, await done.body()) == (202, b"")
        found = await answer.messages()
        assert [message["id"] for message in found] == [5]
        assert "Ann" in found[0]["result"]["content"][0]["text"]
        again = await client.say(accepted(asked, name="Bob"))
        assert again.status == 202, "a late answer is passed over"
        await reading.leave()
        said = reading.buffer + b"".join([reading.chunks.get_nowait() for _ in range(reading.chunks.qsize())])
        assert b"elicitation" not in said, "nothing of it is on another stream"

    scenario()


@served(sample)
async def test_another_session_cannot_answer(client: Client):
    await client.initialize("2025-11-25", {"elicitation": {}})
    names = client.names
    answer = await client.say(request("tools/call", ELICIT, 5))
    while (asked := await answer.message()).get("method") != "elicitation/create":
        pass
    await client.initialize("2025-11-25", {"elicitation": {}})
    await client.say(accepted(asked, name="Eve"))
    await client.post(accepted(asked, name="Ann"), *names)
    assert "Ann" in (await answer.messages())[-1]["result"]["content"][0]["text"]


@served(sample)
async def test_a_stateless_client_is_asked_by_the_answer(client: Client):
    answer = await client.modern("tools/call", ELICIT, elicitation={})
    assert not answer.is_stream
    found = valid(STATELESS, "JSONRPCMessage", await reply(answer))["result"]
    valid(STATELESS, "InputRequiredResult", found)
    (key,) = found["inputRequests"]
    given = {key: {"action": "accept", "content": {"name": "Ann"}}}
    more = {**ELICIT, "inputResponses": given, "requestState": found["requestState"]}
    answer = await client.modern("tools/call", more, elicitation={})
    assert "Ann" in (await reply(answer))["result"]["content"][0]["text"]
    for state in (found["requestState"][:-2] + "AA", "", "x"):
        answer = await client.modern("tools/call", {**more, "requestState": state}, elicitation={})
        assert (answer.status, (await reply(answer))["error"]["code"]) == (400, -32602)


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
