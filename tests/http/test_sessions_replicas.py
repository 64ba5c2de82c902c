"""Two processes that serve one session: what a client sends to the wrong one reaches the one that waits for it."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.effects import PublishChange
from support.asgi import LEGACY, Answer, Client, Doorman, request, served
from support.http_sample import sample

ELICIT = {"name": "elicit", "arguments": {}}


class Wire:
    """Carries events between drivers, as Redis does."""

    def __init__(self, own: HttpDriver) -> None:
        self.own = own
        self.others: list[HttpDriver] = []
        self.said: list[PublishChange] = []

    def publish(self, event: PublishChange) -> None:
        self.said.append(event)
        for driver in self.others:
            driver.receive_change(event)

    def close(self) -> None:
        """Carry nothing more."""


def sibling(client: Client) -> Client:
    """A client of another process that serves the same, connected with the first."""
    other = Client(Application(sample(), HttpSettings()))
    other.application.begin()
    one, two = client.application.drivers[0], other.application.drivers[0]
    one.events, two.events = Wire(one), Wire(two)
    one.events.others, two.events.others = [two], [one]
    other.session, other.version = client.session, client.version
    return other


async def asked(client: Client, identifier: object) -> tuple[Answer, dict]:
    """Call the tool that asks; return the stream, and the question."""
    answer = await client.say(request("tools/call", ELICIT, identifier))
    return answer, await answer.message()


@served(sample)
async def test_an_answer_reaches_who_asked(client: Client) -> None:
    await client.initialize(LEGACY, {"elicitation": {}})
    other = sibling(client)
    stream, question = await asked(client, 7)
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"name": "Trüdi"}}}
    taken = await other.say(reply)
    assert (taken.status, await taken.body()) == (202, b"")
    (done,) = await stream.messages()
    assert "Trüdi" in json.dumps(done, ensure_ascii=False)
    assert not other.application.drivers[0].sessions.live, "nothing is kept where nothing waits"
    await other.application.shutdown()


@served(sample)
async def test_a_cancellation_reaches_who_runs_the_call(client: Client) -> None:
    await client.initialize(LEGACY, {"elicitation": {}})
    other = sibling(client)
    stream, _ = await asked(client, "mine")
    await other.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mine"}})
    for message in await stream.messages():
        assert message.get("id") != "mine", "a cancelled call is not answered"
    assert not client.application.drivers[0].posts
    await other.application.shutdown()


@served(sample)
async def test_what_is_at_home_here_is_told_to_nobody(client: Client) -> None:
    await client.initialize(LEGACY, {"elicitation": {}})
    other = sibling(client)
    stream, question = await asked(client, 1)
    await client.say({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    await stream.messages()
    for message in (request("ping"), {"jsonrpc": "2.0", "method": "notifications/initialized"}):
        await client.say(message)
    assert client.application.drivers[0].events.said == []
    await other.application.shutdown()


@served(sample)
@pytest.mark.slow
async def test_another_session_cannot_answer(client: Client) -> None:
    await client.initialize(LEGACY, {"elicitation": {}})
    other = sibling(client)
    stream, question = await asked(client, 1)
    stranger = Client(other.application)
    await stranger.initialize(LEGACY, {"elicitation": {}})
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"name": "Eve"}}}
    assert (await stranger.say(reply)).status == 202
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(stream.message(), 0.3)
    await stream.leave()
    await other.application.shutdown()


ENDS: dict[str, float] = {}


@served(sample, authenticator=Doorman(lambda *_: Principal("ann", expires=ENDS.setdefault("ann", time.time() + 0.3))))
async def test_a_stream_ends_with_its_token(client: Client) -> None:
    await client.initialize()
    reading = await client.send("GET", *client.names, ("accept", "text/event-stream"))
    listening = await client.modern(
        "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, identifier="s"
    )
    assert (reading.status, listening.status) == (200, 200)
    assert await reading.messages() == []
    client.application.drivers[0]._timer.cancel()
    client.application.drivers[0]._sweep()
    found = await listening.messages()
    assert found[-1]["id"] == "s" and "result" in found[-1]
