"""What HTTP itself has to say of a request: methods, paths, kinds and lengths of bodies, and who may see what lives."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.request import HttpRequest
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.transports.platforms.artifact_file import CHANGED
from support.asgi import HOST, TYPE, Client, mirrors, served, stateless
from support.http_sample import quiet, sample


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


@pytest.mark.parametrize(
    ("running", "line"),
    [
        ([None], "stopping"),
        ([[]], "stopping"),
        ([["a"]], "stopping, 1 call under way: a; they have 2.5 s"),
        ([["b", "a", "b"], None, ["c"]], "stopping, 4 calls under way: a, b, c; they have 2.5 s"),
        ([[*"gfedcba"]], "stopping, 7 calls under way: a, b, c, d, e; they have 2.5 s"),
    ],
)
def test_who_stops_a_server_is_told_what_runs(running, line):
    application = Application(quiet(), HttpSettings(grace_seconds=2.5))
    for names in running:
        calls = None if names is None else [SimpleNamespace(name=name) for name in names]
        application.drivers.append(SimpleNamespace(dispatcher=None if calls is None else SimpleNamespace(calls=calls)))
    assert application.stopping() == line


class Driver:
    """A driver that notes how it is stopped; its call ends after so many looks at it, or when it is abandoned."""

    def __init__(self, said, looks):
        self.said, self.looks = said, looks

    @property
    def posts(self):
        self.looks -= 1
        return self.looks >= 0

    def __getattr__(self, name):
        return lambda *words: self.said.append(" ".join((name, *words)))


@pytest.mark.parametrize(("looks", "is_late"), [(2, False), (10**9, True)])
def test_a_server_stops_once_in_order(looks, is_late, monkeypatch):
    said = []
    monkeypatch.setattr("mcpc_runtime.http.app.log_line", lambda line: said.append(f"log: {line}"))

    async def run():
        application = Application(
            quiet(), HttpSettings(grace_seconds=0.1, spans=SimpleNamespace(close=lambda: said.append("spans")))
        )
        application.drivers = [Driver(said, looks), Driver(said, 0)]
        application._rotation = SimpleNamespace(close=lambda: said.append("rotation"))
        application.refusal_log.close = lambda: said.append("refusals")
        await application.shutdown()
        await application.shutdown()
        assert application.is_ready is False

    asyncio.run(run())
    reason = "abandon Internal error: the server is being stopped"
    late = ["log: calls were ended that had not finished in 0.1 s"] * is_late
    assert said == [
        "rotation", "end_streams", "end_streams", *late, reason, reason, "close", "close", "refusals", "spans",
    ]  # fmt: skip


def test_headers_are_cached_within_bounds(monkeypatch):
    monkeypatch.setattr("mcpc_runtime.http.app.MAX_CACHED", 2)
    monkeypatch.setattr("mcpc_runtime.http.app.MAX_CACHED_LENGTH", 8)
    application = Application(quiet(), HttpSettings())

    def parsed(*names):
        scope = {"method": "GET", "path": "/", "headers": [[name, b""] for name in names]}
        return application.request(scope).headers

    kept, long, other = parsed(b"abcd", b"efgh"), parsed(b"abcd", b"efghi"), parsed(b"x")
    assert parsed(b"abcd", b"efgh") is kept and parsed(b"x") is other and parsed(b"abcd", b"efghi") is not long
    last = parsed(b"y")
    assert parsed(b"y") is last and parsed(b"x") is not other


@pytest.mark.parametrize(
    ("host", "path", "is_one"),
    [
        ("127.0.0.1", "/mcp", False), ("127.9.9.9", "/mcp", False), ("::1", "/mcp", False), ("", "/mcp", False), ("::ffff:127.0.0.1", "/mcp", False),
        ("::ffff:10.0.0.1", "/mcp", True), ("10.0.0.1", "/mcp", True), ("10.0.0.1", "/healthz", False), ("10.0.0.1", "/readyz", False), ("1271", "/mcp", True),
    ],
)  # fmt: skip
def test_a_closed_server_refuses_other_machines_but_for_its_health(host, path, is_one):
    closed = Application(quiet(), HttpSettings())
    refused = closed._refuse_address(HttpRequest("GET", path, b"", None, (host, 5)))
    assert (refused and refused[0]) == (403 if is_one else None)
    assert closed._refuse_address(HttpRequest("GET", path, b"", None)) is None


def test_the_first_server_that_has_a_system_mounts_it(monkeypatch):
    said = []

    def found(row):
        def mount(application, driver):
            said.append((row, driver.name))
            return {f"/{row}": driver} if row.startswith("m") else lambda path: f"{row} {path}"

        return mount

    monkeypatch.setattr("mcpc_runtime.http.app.resolve", found)
    application = Application(quiet(), HttpSettings())
    hooks = [
        ("1", {"mount": ["m1"]}),
        ("2", {"mount": ["m1", "m2"], "http_routes": ["r"]}),
        ("3", {"mount": ["m2"], "http_routes": ["r", "s"]}),
    ]
    application.drivers = [
        SimpleNamespace(name=name, image=SimpleNamespace(hooks=lambda kind, rows=rows: rows.get(kind, [])))
        for name, rows in hooks
    ]
    application._mount()
    assert sorted(said) == [("m1", "1"), ("m2", "2"), ("r", "2"), ("s", "3")]
    assert sorted(application.paths) == ["/m1", "/m2", "/mcp"]
    assert sorted(find("x") for find in application._route_finders) == ["r x", "s x"]


@served(quiet)
async def test_a_server_whose_file_was_changed_is_not_ready(client: Client, monkeypatch):
    monkeypatch.setattr("mcpc_runtime.http.app.is_changed", lambda archive: True)
    answer = await client.send("GET", path="/readyz")
    assert (answer.status, await answer.body()) == (503, CHANGED.encode() + b"\n")
    assert (await client.send("GET", path="/healthz")).status == 200
    monkeypatch.undo()
    client.application.is_ready = False
    answer = await client.send("GET", path="/readyz")
    assert (answer.status, answer.headers["retry-after"], await answer.body()) == (
        503,
        "1",
        b"the server is being stopped\n",
    )
