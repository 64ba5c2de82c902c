"""Sessions of the handshake era: signed, served by any process with the key, bound to who began them, never for free."""

import asyncio
import json
import time

import pytest

from mcpc_runtime.http import sessions
from mcpc_runtime.http.app import Application
from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.sessions import Sessions
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.batches import MAX_MESSAGES
from mcpc_runtime.protocol.effects import PublishChange
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.replicas import signed_tokens as seals
from support.asgi import LEGACY, Answer, Client, Doorman, mirrors, reply, request, served, stateless, written
from support.http_sample import built, sample
from support.http_sample import image_of as of_file
from support.images import archive, image_of, project, tool

ECHO = {"name": "echo", "arguments": {"text": "x"}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


INITIALIZE = request(
    "initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
)


@served(sample)
async def test_an_id_is_random_and_signed(client: Client):
    found = set()
    for _ in range(50):
        await client.initialize()
        found.add(client.session)
    assert len(found) == 50
    token = client.session
    for place in range(len(token)):
        forged = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        answer = await client.post(request("ping"), ("mcp-session-id", forged))
        assert answer.status == 404, place
    for forged in (token + "A", token[:-1], token + "=", token.lower(), " " + token[1:]):
        assert (await client.post(request("ping"), ("mcp-session-id", forged))).status == 404
    foreign = seals.token_signer().sign("another purpose", b"x" * 44, 60)
    assert (await client.post(request("ping"), ("mcp-session-id", foreign))).status == 404
    assert (await client.post(request("ping"), ("mcp-session-id", token))).status == 200


@served(sample)
async def test_ending_a_session_ends_what_runs_for_it(client: Client, tmp_path):
    await client.initialize()
    slow = asyncio.create_task(
        client.say(request("tools/call", {"name": "marked", "arguments": {"text": str(tmp_path / "mark")}}))
    )
    await written(tmp_path / "mark.begun")
    assert (await client.send("DELETE", *client.names)).status == 204
    answer = await slow
    assert answer.status in (200, 202)
    assert await answer.body() == b""
    await written(tmp_path / "mark")


DOORMAN = Doorman(lambda name, path: Principal(name) if name else None)


@served(sample, authenticator=DOORMAN)
async def test_a_session_is_its_principals(client: Client):
    assert (await client.post(INITIALIZE)).status == 401
    assert "mcp-session-id" not in (await client.post(INITIALIZE)).headers
    ann, bob = ("authorization", "ann"), ("authorization", "bob")
    answer = await client.post(INITIALIZE, ann)
    client.session = answer.headers["mcp-session-id"]
    assert (await client.say(request("ping"), ann)).status == 200
    assert (await client.say(request("ping"), bob)).status == 404
    await client.say(request("logging/setLevel", {"level": "error"}), ann)
    assert client.application.drivers[0].sessions.live
    assert (await client.say(request("ping"), bob)).status == 404
    assert (await client.send("DELETE", *client.names, bob)).status == 404
    assert (await client.send("GET", *client.names, bob)).status == 404
    assert (await client.say(request("ping"))).status == 401
    assert (await client.send("GET", *client.names)).status == 401
    assert (await client.say(request("tools/call", {"name": "late", "arguments": {"seconds": 0}}), ann)).status == 403
    answer = await client.say(request("tools/call", ECHO), ann)
    assert (await reply(answer))["result"]["content"]
    document = await client.send("GET", path="/.well-known/oauth-protected-resource")
    assert (document.status, await document.body()) == (200, b"{}")
    assert (await client.send("GET", path="/.well-known/other")).status == 404


@served(sample, authenticator=DOORMAN)
async def test_nothing_is_read_of_who_is_not_let_in(client: Client):
    asked = []

    async def receive():
        asked.append(1)
        return {"type": "http.request", "body": b"{}", "more_body": False}

    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    await client.application(scope, receive, send)
    assert sent[0]["status"] == 401
    assert not asked


@served(sample)
async def test_a_batch_is_bounded_and_begins_no_session(client: Client):
    """A message takes two bytes, its refusal a hundred: what may be sent must not decide what is held."""
    await client.initialize("2025-03-26")
    notes = [INITIALIZED] * MAX_MESSAGES
    assert (await client.say(notes)).status == 202
    for batch in ([*notes, INITIALIZED], [1] * 100_000):
        answer = await client.say(batch)
        assert answer.status == 400
        assert len(await answer.body()) < 200
    answer = await client.say([request("ping"), INITIALIZE])
    assert (answer.status, "mcp-session-id" in answer.headers) == (400, False)
    assert (await reply(await client.say(request("ping"))))["result"] == {}


@served(sample)
async def test_a_cancelled_call_is_not_answered(client: Client, tmp_path):
    await client.initialize()
    marked = request("tools/call", {"name": "marked", "arguments": {"text": str(tmp_path / "mark")}}, 7)
    first = asyncio.create_task(client.say(marked))
    await written(tmp_path / "mark.begun")
    answer = await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    assert answer.status == 202
    assert await (await first).body() == b""
    await written(tmp_path / "mark")


def pair() -> dict[str, Image]:
    """Two files, each under its path."""
    return {"/mcp": of_file(built("sample")), "/other": of_file(built("sample"))}


@served(pair)
async def test_a_session_and_a_state_of_one_endpoint_are_refused_at_another(client: Client):
    await client.initialize("2025-11-25", {})
    assert (await client.post(request("ping"), *client.names)).status == 200
    assert (await client.post(request("ping"), *client.names, path="/other")).status == 404
    assert (await client.send("DELETE", *client.names, path="/other")).status == 404
    assert (await client.post(request("ping"), *client.names)).status == 200
    params = {"name": "elicit", "arguments": {}}
    found = (await reply(await client.modern("tools/call", params, elicitation={})))["result"]
    (key,) = found["inputRequests"]
    answered = {key: {"action": "accept", "content": {"name": "Ann"}}}
    more = {**params, "inputResponses": answered, "requestState": found["requestState"]}
    for path, status in (("/other", 400), ("/mcp", 200)):
        message = stateless("tools/call", more, elicitation={})
        answer = await client.post(message, *mirrors("tools/call", more), path=path)
        assert answer.status == status
        await answer.body()


def test_an_upgraded_replica_takes_the_sessions_of_the_one_before(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(seals, "PROCESS_SIGNER", [seals.TokenSigner([b"k" * 32])])
    settings = HttpSettings()
    before, after, other = (small(names, name) for names, name in (("a", "small"), ("ab", "small"), ("a", "large")))
    token = Sessions(before, settings).mint(agreed(before))
    found = Sessions(after, settings).find(token, "")
    assert found is not None and found.session.wire is not None
    assert Sessions(other, settings).find(token, "") is None, "another server that has the same keys"


def small(names: str, name: str) -> Image:
    info = {"name": name, "version": f"{len(names)}.0"}
    image = image_of(archive(project([tool(one) for one in names], serverInfo=info)).data)
    image.endpoint = "/mcp"
    return image


def agreed(image: Image) -> Session:
    session = Session(image)
    session.wire = image.revision("2025-11-25")
    return session


def test_a_session_that_was_forgotten_has_nothing_kept_for_it():
    """A call that ends after it would otherwise charge what nobody releases."""
    settings = HttpSettings()
    session = Session(sample())
    session.account = settings.budget.account("")
    assert session.account.charge(100)
    sessions.release_account(session)
    assert not session.account.charge(100)
    assert settings.budget.held == 0


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
