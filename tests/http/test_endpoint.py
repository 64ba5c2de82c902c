"""What HTTP itself has to say of a request: methods, paths, kinds and lengths of bodies, and who may see what lives."""

import asyncio
import json

import pytest

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.settings import HttpSettings
from support.asgi import HOST, TYPE, Client, mirrors, reply, request, served, stateless
from support.http_sample import quiet, sample
from support.knocks import ACCEPTED, JSON, TYPES


@pytest.mark.parametrize(("kind", "status"), TYPES)
def test_a_message_is_json(kind, status):
    @served(quiet)
    async def scenario(client: Client):
        answer = await client.post(request("initialize", {"protocolVersion": "2025-11-25"}), ("content-type", kind))
        assert answer.status == status
        assert ("mcp-session-id" in answer.headers) is (status == 200)

    scenario()


@pytest.mark.parametrize(("kinds", "found"), ACCEPTED)
def test_whatever_a_client_accepts_it_is_answered(kinds, found):
    @served(quiet)
    async def scenario(client: Client):
        answer = await client.modern("tools/list", None, ("accept", kinds))
        assert answer.status == 200
        assert answer.headers["content-type"] == found
        body = await answer.message() if found != JSON else json.loads(await answer.body())
        assert body["result"]["tools"]

    scenario()


@pytest.mark.parametrize(
    ("kinds", "is_stream"),
    [
        ((b"application/json, text/event-stream;q=0",), False),
        ((b"text/event-stream;q=0.0, */*;q=0.5",), False),
        ((b"*/*;q=0",), False),
        ((b"text/event-stream;q=0.001",), True),
        ((b"text/event-stream", b"application/json"), True),
        ((b"application/json", b"text/event-stream"), True),
    ],
)
@pytest.mark.sampled(3)
def test_who_refuses_events_is_sent_none(kinds, is_stream):
    @served(sample)
    async def scenario(client: Client):
        params = {"name": "tell", "_meta": {"progressToken": "p"}}
        names = [(name.encode(), value.encode()) for name, value in mirrors("tools/call", params)]
        accepted = [(b"accept", kind) for kind in kinds]
        body = json.dumps(stateless("tools/call", params)).encode()
        answer = await client.open("POST", "/mcp", [HOST, TYPE, *names, *accepted], [body])
        assert (answer.status, answer.is_stream) == (200, is_stream)
        assert "result" in await reply(answer)

    scenario()


@served(quiet)
async def test_several_lines_of_what_is_accepted_are_one_list(client: Client):
    for kinds in ((b"application/json", b"text/event-stream"), (b"text/event-stream", b"application/json")):
        names = [(name.encode(), value.encode()) for name, value in mirrors("tools/list")]
        given = [HOST, TYPE, *names, *((b"accept", kind) for kind in kinds)]
        answer = await client.open("POST", "/mcp", given, [json.dumps(stateless("tools/list")).encode()])
        assert answer.headers["content-type"] == JSON


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate", "identity, gzip", "x"])
def test_no_coding_of_a_body_is_taken(coding):
    @served(quiet)
    async def scenario(client: Client):
        answer = await client.post(request("ping"), ("content-encoding", coding))
        assert answer.status == 415
        assert answer.headers["accept-encoding"] == "identity"

    scenario()


FRAMINGS = [
    ([(b"content-length", b"2"), (b"content-length", b"2")], 400),
    ([(b"content-length", b"2"), (b"content-length", b"3")], 400),
    ([(b"content-length", b"2"), (b"transfer-encoding", b"chunked")], 400),
    ([(b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"chunked")], 400),
    ([(b"content-length", b"+2")], 400),
    ([(b"content-length", b"0x2")], 400),
    ([(b"content-length", b"2, 2")], 400),
    ([(b"content-length", b"-2")], 400),
    ([(b"content-length", b"")], 400),
    ([(b"content-length", b"9" * 40)], 413),
    ([(b"content-length", b"101")], 413),
    ([(b"content-length", b"100")], 400),
]


@pytest.mark.parametrize(("headers", "status"), FRAMINGS)
def test_the_length_of_a_body_is_given_once(headers, status):
    @served(quiet, body_limit=100)
    async def scenario(client: Client):
        asked = []

        async def receive():
            asked.append(1)
            return {"type": "http.request", "body": b"{}", "more_body": False}

        sent = []

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "query_string": b"",
            "headers": [HOST, TYPE, *headers],
        }
        await client.application(scope, receive, send)
        assert sent[0]["status"] == status
        assert bool(asked) is (headers == [(b"content-length", b"100")]), "a body that is refused is not read"
        if status == 413:
            assert (b"connection", b"close") in sent[0]["headers"]

    scenario()


@served(quiet, body_limit=1000)
async def test_a_body_of_no_length_is_read_as_far_as_the_limit(client: Client):
    taken = []

    async def receive():
        taken.append(1)
        return {"type": "http.request", "body": b"x" * 400, "more_body": True}

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": [HOST, TYPE]}
    await client.application(scope, receive, send)
    assert sent[0]["status"] == 413
    assert len(taken) == 3
    body = json.dumps(request("ping")).encode()
    answer = await client.open("POST", "/mcp", [HOST, TYPE], [body[:7], b"", body[7:]])
    assert answer.status == 400
    assert "Mcp-Session-Id" in (await answer.body()).decode(), "it was put together"


@served(quiet, body_seconds=0.1)
async def test_a_body_that_does_not_come(client: Client):
    first = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive():
        if not first:
            await asyncio.sleep(60)
        return first.pop()

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": [HOST, TYPE]}
    await client.application(scope, receive, send)
    assert sent[0]["status"] == 408

    async def leave():
        return {"type": "http.disconnect"}

    sent.clear()
    await client.application(scope, leave, send)
    assert sent == []


METHODS = [
    ("PUT", 405),
    ("PATCH", 405),
    ("TRACE", 405),
    ("HEAD", 405),
    ("CONNECT", 405),
    ("BREW", 405),
    ("OPTIONS", 204),
    ("GET", 405),
    ("DELETE", 400),
]


@pytest.mark.parametrize(("method", "status"), METHODS)
def test_methods(method, status):
    @served(quiet)
    async def scenario(client: Client):
        answer = await client.send(method)
        assert answer.status == status
        assert "mcp-session-id" not in answer.headers
        assert ("content-length" in answer.headers) is (status != 204)
        if status in (405, 204):
            assert "POST" in answer.headers["allow"]
        assert not client.application.drivers[0].sessions.live

    scenario()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/mc",
        "/mcp2",
        "/mcp/x",
        "/MCP",
        "//mcp",
        "/mcp/..",
        "/%2e",
        "",
        "/sse",
        "/messages",
        "/metrics",
        "/x" * 5000,
        "*",
    ],
)
def test_nothing_is_elsewhere(path):
    @served(quiet)
    async def scenario(client: Client):
        for method in ("GET", "POST", "DELETE", "PUT", "OPTIONS"):
            assert (await client.send(method, path=path)).status == 404

    scenario()


@served(quiet, has_metrics=True)
async def test_metrics_are_looked_at_and_nothing_else(client: Client):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
        answer = await client.send(method, path="/metrics")
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    for method in ("GET", "HEAD"):
        assert (await client.send(method, path="/metrics")).status == 200


@served(sample, path="/deep/er")
async def test_the_path_is_what_was_chosen(client: Client):
    for path in ("/deep/er", "/deep/er/"):
        answer = await client.post(request("initialize", {"protocolVersion": "2025-11-25"}), path=path)
        assert answer.status == 200
    assert (await client.post(request("ping"))).status == 404


@served(quiet)
async def test_an_answer_is_kept_and_guessed_at_by_nobody(client: Client):
    for answer in (
        await client.modern("tools/list"),
        await client.send("GET"),
        await client.send("GET", path="/healthz"),
    ):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


@served(quiet)
async def test_who_looks_after_the_process_needs_no_name(client: Client):
    for path in ("/healthz", "/readyz"):
        for name in ("10.0.0.7:8000", "evil.example"):
            answer = await client.send("GET", ("host", name), path=path)
            assert (answer.status, await answer.body()) == (200, b"ok\n")
        assert (await client.send("POST", path=path)).status == 405
        answer = await client.send("HEAD", path=path)
        assert (answer.status, await answer.body()) == (200, b"")
    client.application.is_ready = False
    assert (await client.send("GET", path="/healthz")).status == 200
    assert (await client.send("GET", path="/readyz")).status == 503


@served(lambda: {"/a": sample(), "/b": quiet()})
async def test_several_servers_under_their_paths(client: Client):
    names = []
    for path in ("/a", "/b"):
        answer = await client.post(request("initialize", {"protocolVersion": "2025-11-25"}), path=path)
        names.append(json.loads(await answer.body())["result"]["serverInfo"]["name"])
    assert names == ["sample", "quiet"]
    assert (await client.post(request("initialize"))).status == 404


@served(quiet)
async def test_the_lifespan_begins_and_ends_the_application(client: Client):
    application = Application(quiet(), HttpSettings())
    said, heard = asyncio.Queue(), asyncio.Queue()
    task = asyncio.create_task(application({"type": "lifespan"}, said.get, heard.put))
    await said.put({"type": "lifespan.startup"})
    assert (await heard.get())["type"] == "lifespan.startup.complete"
    assert (await Client(application).modern("tools/list")).status == 200
    await said.put({"type": "lifespan.shutdown"})
    assert (await heard.get())["type"] == "lifespan.shutdown.complete"
    await task
    with pytest.raises(RuntimeError, match="websocket"):
        await application({"type": "websocket"}, said.get, heard.put)


async def served_by(post):
    """Return a reply that was not ready at once: on a busy machine that can be any handler's."""
    return await post.serve(asyncio.Event().wait, None, [])


class RequestHead:
    """The head of a request, as a server keeps it."""

    def __init__(self, path, headers, method="POST"):
        self.path, self.query, self.headers, self.method = path, b"", headers, method
        self.parsed = None


@served(sample)
async def test_the_shortest_way_answers_the_same(client: Client):
    def head(*more, path="/mcp", method="POST"):
        pairs = [HOST, TYPE, *((name.encode(), value.encode()) for name, value in more)]
        return RequestHead(path, pairs, method)

    application = client.application
    for method, params in (
        ("tools/list", {}),
        ("tools/call", {"name": "quick", "arguments": {"text": "x"}}),
        ("no/such", {}),
        ("tools/call", {"name": "nosuch"}),
    ):
        body = json.dumps(stateless(method, params)).encode()
        kept = head(*mirrors(method, params))
        for _ in range(2):
            made, more = application.answer_now(kept, body)
            assert more == []
            status, headers, said = made if type(made) is tuple else await served_by(made)
            answer = await client.modern(method, params)
            assert (status, said) == (answer.status, await answer.body())
            assert {name.decode(): value.decode() for name, value in headers}.items() <= answer.headers.items()
        assert kept.parsed.fields == dict(kept.headers)
    params = {"name": "echo", "arguments": {"text": "x"}}
    post, _ = application.answer_now(
        head(*mirrors("tools/call", params)), json.dumps(stateless("tools/call", params)).encode()
    )
    status, _, said = await served_by(post)
    assert (status, json.loads(said)["result"]["content"][0]["text"]) == (200, "x")
    good = mirrors("tools/list")
    for odd in (head(*good, path="/x"), head(*good, method="GET")):
        assert application.answer_now(odd, b"{}") is None
    for bad, status in ((("origin", "http://evil.example"), 403), (("content-encoding", "gzip"), 415)):
        assert application.answer_now(head(*good, bad), b"{}")[0][0] == status
    await application.shutdown()
    assert application.answer_now(head(*good), b"{}") is None
    assert (await client.modern("tools/list")).status == 503


class Observer:
    """What is told of calls."""

    def __init__(self):
        self.said = []

    def began(self, call):
        self.said.append(("began", call.definition.name))

    def ended(self, call, status, seconds, ending):
        self.said.append((status, call.definition.name))

    def close(self):
        self.said.append("closed")


OBSERVER = Observer()


@served(sample, has_metrics=True, spans=OBSERVER)
async def test_calls_are_observed(client: Client):
    for name in ("echo", "quick"):
        await client.ask("tools/call", {"name": name, "arguments": {"text": "x"}})
    began = [("began", "echo"), ("success", "echo"), ("began", "quick"), ("success", "quick")]
    assert OBSERVER.said == began
    answer = await client.send("GET", path="/metrics")
    assert answer.status == 200
    text = (await answer.body()).decode()
    assert 'mcpc_calls_total{kind="tool",name="quick",outcome="success"} 1' in text
    assert 'mcpc_requests_total{method="tools/call",status="200"} 2' in text
    await client.application.shutdown()
    assert OBSERVER.said[-1] == "closed"


@pytest.mark.parametrize("host", ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1", "localhost.example"])
@pytest.mark.parametrize("path", ["/mcp", "/metrics", "/nothing"])
def test_another_machine_is_refused_whatever_serves(host: str, path: str) -> None:
    @served(sample)
    async def scenario(client: Client) -> None:
        far = from_host(client, host)
        for method in ("POST", "GET", "OPTIONS"):
            answer = await far.open(method, path, [HOST, TYPE], [b"{}"])
            assert answer.status == 403
            assert b"MCPC_TOKEN_FILE" in await answer.body()
        assert (await far.open("GET", "/healthz", [HOST])).status == 200
        assert not client.application.drivers[0].posts

    scenario()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_not_refused_nor_is_anybody_where_it_is_open(host: str) -> None:
    @served(sample)
    async def near(client: Client) -> None:
        assert (await from_host(client, host).modern("tools/list")).status == 200

    @served(sample, open=True)
    async def anybody(client: Client) -> None:
        assert (await from_host(client, "192.0.2.7").modern("tools/list")).status == 200

    near()
    anybody()


def from_host(client: Client, host: str) -> Client:
    """A client at another address."""
    application = client.application

    async def seen(scope, receive, send):
        await application({**scope, "client": (host, 5)}, receive, send)

    return Client(seen)


@served(quiet)
async def test_a_body_that_has_its_length_is_whole(client: Client):
    body = json.dumps(stateless("tools/list")).encode()
    asked, answer = [], []

    async def receive():
        asked.append(1)
        assert len(asked) == 1, "nothing more is asked for"
        return {"type": "http.request", "body": body, "more_body": True}

    async def send(message):
        answer.append(message)

    fields = {**dict([HOST, TYPE]), b"content-length": b"%d" % len(body)}
    fields.update((name.encode(), value.encode()) for name, value in mirrors("tools/list", None))
    headers = [list(pair) for pair in fields.items()]  # as some servers give them
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    await client.application(scope, receive, send)
    assert answer[0]["status"] == 200 and b'"tools"' in answer[1]["body"]
