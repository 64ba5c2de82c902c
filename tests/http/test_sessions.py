"""Sessions of the handshake era: signed, served by any process with the key, bound to who began them, never for free."""

import asyncio

import pytest

from mcpc_runtime.artifact.image import Image
from mcpc_runtime.http import sessions
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.sessions import Sessions
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.batches import MAX_MESSAGES
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.replicas import signed_tokens as seals
from support.asgi import LEGACY, Client, Doorman, mirrors, reply, request, served, stateless, written
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
