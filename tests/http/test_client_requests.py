"""What a handler asks goes where its revision has it: on the stream of the request, or into the answer; never elsewhere."""

import pytest

from support.asgi import Client, reply, request, served
from support.http_sample import sample
from support.messages import STATELESS, valid

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
