"""The small parts of the HTTP transport, each by itself: bodies, replies, routes, addresses, rotation, measures, stamps."""

import asyncio
import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.http import metrics, request, serve, server_log, settings
from mcpc_runtime.http.auth import token_file
from mcpc_runtime.http.auth.token_file import Rotation, reload
from mcpc_runtime.http.memory_budget import MIB, WAITING_COST, MemoryBudget
from mcpc_runtime.http.metrics import add_handler_gauges, add_process_gauges
from mcpc_runtime.http.origins import ClientAddressFilter
from mcpc_runtime.http.post_response import DeferredRequest, LongReply, PostResponse
from mcpc_runtime.http.principals import Denied, Principal, deny
from mcpc_runtime.http.replies import CHUNK_SIZE, accepted, error, preflight, refuse, remove_null_id, respond
from mcpc_runtime.http.request import no_room, read_body, refuse_values
from mcpc_runtime.http.routes import DisabledRoute, Route, describe_missing, document_route
from mcpc_runtime.http.serve import ServeError
from mcpc_runtime.http.settings import HttpSettings, most_connections
from mcpc_runtime.log import LineFormat
from mcpc_runtime.protocol.session import MAX_VALUES

JSON = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


def reading(*parts: tuple[bytes, bool] | None, length: int = -1, limit: int = 10, room: int = 1 << 20) -> Any:
    """Read a body that comes in parts, None for a disconnect; return it, and how many parts are left."""
    left = list(parts)
    charged: list[int] = []
    account: Any = SimpleNamespace(set=lambda size: charged.append(size) or size <= room)

    async def receive() -> Any:
        if not left:
            await asyncio.sleep(60)
        part = left.pop(0)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part[0], "more_body": part[1]}

    found = asyncio.run(read_body(receive, length, limit, 0.05, account))
    return (found if found is None or isinstance(found, bytes) else found[0]), len(left), charged


@pytest.mark.parametrize(
    ("parts", "more", "found"),
    [
        ([(b"ab", False)], {}, (b"ab", 0, [])),
        ([(b"a", True), (b"", True), (b"b", False)], {}, (b"ab", 0, [1, 2])),
        ([(b"a" * 10, False)], {}, (b"a" * 10, 0, [])),
        ([(b"a" * 11, False)], {}, (413, 0, [])),
        ([(b"a" * 6, True), (b"a" * 4, True), (b"a", True), (b"a", False)], {}, (413, 1, [10, 11])),
        ([(b"abc", True), (b"x", False)], {"length": 3}, (b"abc", 1, [])),
        ([(b"ab", True), (b"c", True), (b"x", False)], {"length": 3}, (b"abc", 1, [3])),
        ([(b"ab", True), (b"c", True), (b"x", False)], {"room": 2}, (503, 1, [3])),
        ([(b"ab", True)], {}, (408, 0, [])),
        ([None], {}, (None, 0, [])),
        ([(b"ab", True), None], {}, (None, 0, [2])),
    ],
)
def test_a_body_is_read_whole(parts: Any, more: Any, found: Any) -> None:
    assert reading(*parts, **more) == found


def test_what_has_no_room_says_so() -> None:
    status, headers, body = no_room("a")
    assert (status, headers) == (503, [*JSON, (b"retry-after", b"1")])
    message = f"Internal error: {request.FULL}"
    assert json.loads(body) == {"jsonrpc": "2.0", "id": "a", "error": {"code": -32603, "message": message}}
    assert refuse_values(b"[" * MAX_VALUES) is None
    assert refuse_values(b"[" + b"0," * MAX_VALUES + b"0]") == error(413, -32600, request.TOO_MANY_VALUES)
    assert refuse_values(b" " * (MAX_VALUES + 1)) is None


@pytest.mark.parametrize(
    ("client", "forwarded", "address"),
    [
        (None, [], "127.0.0.1"), (("", 5), [], "127.0.0.1"), (("192.0.2.1", 5), ["1.2.3.4"], "192.0.2.1"), (("x", 5), [], None),
        (("10.0.0.1", 5), [], "10.0.0.1"), (("10.0.0.1", 5), ["1.2.3.4"], "1.2.3.4"), (("10.0.0.1", 5), ["9.9.9.9, 1.2.3.4 , 10.0.0.2"], "1.2.3.4"),
        (("10.0.0.1", 5), ["9.9.9.9", "1.2.3.4"], "1.2.3.4"), (("10.0.0.1", 5), ["1.2.3.4, nonsense"], None), (("10.0.0.1", 5), ["10.0.0.3,10.0.0.2"], "10.0.0.3"),
        (("10.0.0.1", 5), [" , "], "10.0.0.1"), (("10.0.0.1", 5), [",".join(["1.2.3.4"] * 32)], "1.2.3.4"), (("10.0.0.1", 5), [",".join(["1.2.3.4"] * 33)], None),
        (("::ffff:10.0.0.1", 5), ["::ffff:1.2.3.4"], "1.2.3.4"), (("fe80::1%eth0", 5), [], "fe80::1"),
    ],
)  # fmt: skip
def test_a_client_has_the_address_that_proxies_report(client: Any, forwarded: list[str], address: str | None) -> None:
    addresses = ClientAddressFilter(["1.2.3.0/24", "fe80::/10"], ["10.0.0.0/8"])
    headers = [(b"X-Forwarded-For", value.encode()) for value in forwarded]
    found = addresses.address(client, [(b"other", b"8.8.8.8"), *headers])
    assert (None if found is None else str(found)) == address
    assert addresses.allows(client, headers) is (address in ("1.2.3.4", "fe80::1"))


@pytest.mark.parametrize(
    ("chosen", "descriptors", "most"), [(5, 1000, 5), (0, 1000, 686), (0, 100, 16), (0, 0, 1 << 20)]
)
def test_there_are_as_many_connections_as_descriptors_have_room_for(
    monkeypatch: pytest.MonkeyPatch, chosen: int, descriptors: int, most: int
) -> None:
    monkeypatch.setattr(settings, "most_descriptors", lambda: descriptors)
    assert most_connections(HttpSettings(max_connections=chosen)) == most


def deferred(held: int, refused: Any, answer: Any) -> tuple[Any, list[int]]:
    """Return what a deferred request is answered with, and what was charged while it waited and after."""
    budget = MemoryBudget(128 * MIB)
    budget.charge("a", held)
    charged: list[int] = []

    async def admit() -> Any:
        charged.append(budget.held - held)
        return refused

    account = budget.account("a")
    found = asyncio.run(DeferredRequest(admit, lambda: answer, account, 100).serve(None, None, [(b"x", b"y")]))  # type: ignore[arg-type]
    return found, [*charged, budget.held - held]


def test_a_request_that_waits_is_charged_until_its_turn() -> None:
    ok, no = (200, [], b""), refuse(403, "no")
    assert deferred(0, None, ok) == (ok, [WAITING_COST + 100, 0])
    assert deferred(0, no, ok) == (no, [WAITING_COST + 100, 0])
    assert deferred(45 * MIB, None, ok) == (no_room(), [0, 0])
    assert deferred(45 * MIB, no, ok) == (no, [0, 0])

    async def later(receive: Any, send: Any, more: Any) -> Any:
        return more

    assert deferred(0, None, SimpleNamespace(serve=later))[0] == [(b"x", b"y")]


def sent(reply: Any) -> list[Any]:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(respond(send, reply))
    return messages


@pytest.mark.parametrize("size", [0, 1, CHUNK_SIZE, CHUNK_SIZE + 1, 2 * CHUNK_SIZE, 2 * CHUNK_SIZE + 5])
def test_a_reply_is_sent_in_chunks(size: int) -> None:
    body = os.urandom(size)
    start, *parts = sent((200, [(b"a", b"b")], body))
    assert start["headers"] == [(b"a", b"b"), (b"content-length", b"%d" % size)]
    assert b"".join(part["body"] for part in parts) == body
    assert [part.get("more_body", False) for part in parts] == [True] * (len(parts) - 1) + [False]
    assert len(parts) == max(1, -(-size // CHUNK_SIZE)) and max(len(part["body"]) for part in parts) <= CHUNK_SIZE


@pytest.mark.parametrize(("size", "is_returned"), [(CHUNK_SIZE, True), (CHUNK_SIZE + 1, False)])
def test_a_long_answer_is_charged_until_it_is_sent(size: int, is_returned: bool) -> None:
    output, held = MemoryBudget().account("a"), list[int]()
    output.charge(5)

    async def send(message: Any) -> None:
        held.append(output.held)

    driver: Any = SimpleNamespace(settings=None)
    asked: Any = SimpleNamespace(headers=SimpleNamespace(accepts_events=False, only_events=False))
    post = PostResponse(driver, driver, asked)
    post.lines, post.output = [b"x" * size], output
    reply = asyncio.run(post.serve(driver, send, []))
    assert (reply is not None, output.held) == (is_returned, 0)
    assert held == ([] if is_returned else [5, 5, 5])


def test_a_reply_without_content_has_no_length() -> None:
    assert sent((204, [], b""))[0] == {"type": "http.response.start", "status": 204, "headers": []}
    assert accepted() == (202, JSON[1:], b"")


def test_a_long_reply_has_the_headers_for_pages() -> None:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    account = MemoryBudget().account("a")
    assert asyncio.run(LongReply((200, [(b"a", b"b")], b"xy"), account).serve(None, send, [(b"c", b"d")])) is None  # type: ignore[arg-type]
    assert messages[0]["headers"] == [(b"a", b"b"), (b"c", b"d"), (b"content-length", b"2")]


def test_errors_have_an_id_if_it_is_one() -> None:
    for identifier, has in (("a", True), (0, True), (None, False), (1.5, False), (True, False), ([], False)):
        assert ("id" in json.loads(error(400, -1, "m", identifier)[2])) is has
    assert refuse(403, "m", [(b"a", b"b")]) == (403, [*JSON, (b"a", b"b")], error(403, -32600, "m")[2])
    assert remove_null_id(b'{"jsonrpc":"2.0","id":null,"error":{}}') == b'{"jsonrpc":"2.0","error":{}}'
    assert remove_null_id(b'{"jsonrpc":"2.0","id":1,"error":{}}') == b'{"jsonrpc":"2.0","id":1,"error":{}}'
    named = preflight(b"GET", {b"access-control-request-headers": b"Mcp-Param-A , x,mcp-param-a,mcp-param-b"})
    assert named[0] == (b"access-control-allow-methods", b"GET")
    assert named[1][1].split(b", ")[7:] == [b"mcp-param-a", b"mcp-param-b"]


@pytest.mark.parametrize(
    ("words", "headers", "body"),
    [
        ((401,), [], {"error": "Unauthorized", "error_description": "send a bearer token in the Authorization header"}),
        ((401, "Bearer", "e", "d"), [(b"www-authenticate", b"Bearer")], {"error": "e", "error_description": "d"}),
        ((403, "", "", "d"), [], {"error": "Forbidden", "error_description": "d"}),
        ((503,), [(b"retry-after", b"5")], {"error": "Service Unavailable"}),
    ],
)
def test_a_denial_has_its_reason(words: Any, headers: Any, body: Any) -> None:
    found = deny(*words)
    assert (found.status, found.headers) == (words[0], [(b"content-type", b"application/json"), *headers])
    assert json.loads(found.body) == body
    assert found.reply == (words[0], [*JSON[1:], *found.headers], found.body) and isinstance(found, Denied)


def test_routes_say_what_is_there() -> None:
    async def handler(request: Any, receive: Any) -> Any:
        return 200, [], b""

    for methods, named in (({"GET"}, "GET"), ({"GET", "POST"}, "POST"), ({"POST"}, "POST")):
        status, headers, body = Route(dict.fromkeys(methods, handler), allow=b"A").refuse_method()
        assert (status, headers[-1]) == (405, (b"allow", b"A"))
        assert json.loads(body)["error"]["message"] == f"method not allowed: use {named}"
    assert DisabledRoute("off", "/mcp").refuse_method() == refuse(404, "off")
    gate: Any = SimpleNamespace(document={"/.well-known/a": b"doc", "/a": b"x"}.get)
    assert document_route("/.well-known/a", None) is None and document_route("/a", gate) is None
    assert document_route("/.well-known/b", gate) is None
    route = document_route("/.well-known/a", gate)
    assert route is not None and route.is_public and not route.is_open
    for method, body in (("GET", b"doc"), ("HEAD", b"")):
        request: Any = SimpleNamespace(method=method)
        assert asyncio.run(route.handlers[method](request, None)) == (200, JSON, body)  # type: ignore[arg-type]
    open_one, closed = HttpSettings(path="/p"), HttpSettings(authenticator=gate)
    assert (
        describe_missing("/x", open_one)
        == describe_missing("/x", closed.but(path="/p"))
        == "not found; the endpoint is /p"
    )
    texts = {describe_missing(path, each) for path in ("/.well-known/x", "/register") for each in (open_one, closed)}
    assert {text.partition("; ")[2] for text in texts} == {
        "",
        "send a bearer token in the Authorization header",
    } and len(texts) == 2


def test_tokens_that_are_removed_end_their_streams() -> None:
    async def run() -> list[Any]:
        removed = [[], [Principal("a")], [Principal("b")]]
        said: list[Any] = []
        source: Any = SimpleNamespace(read_changes=lambda: removed.pop(0), read=lambda: removed.pop(0))
        drivers: Any = [SimpleNamespace(end_leases=lambda ended, n=n: said.append((n, ended[0].name))) for n in (1, 2)]
        watching = Rotation(source, drivers)
        while len(removed) > 1:
            await asyncio.sleep(0.001)
        reload(watching)
        watching.close()
        await asyncio.sleep(0.01)
        return said

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_file, "CHECK_SECONDS", 0.001)
        logged: list[str] = []
        patch.setattr(token_file, "log_line", logged.append)
        assert asyncio.run(run()) == [(1, "a"), (2, "a"), (1, "b"), (2, "b")]
        reload(None)
        assert len(logged) == 1 and logged[0].startswith("SIGHUP: there is no token file")


def test_a_process_tells_its_age_and_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    gauges: dict[str, Any] = {}
    driver: Any = SimpleNamespace(dispatcher=None)
    for memory in (0, 7):
        gauges.clear()
        monkeypatch.setattr(metrics, "resident_bytes", lambda pid, memory=memory: memory)
        add_process_gauges(lambda name, _, read: gauges.update({name: read}))
        add_handler_gauges(lambda name, _, read: gauges.update({name: read}), driver)
        names = ["process_start_time_seconds", "process_resident_memory_bytes", "mcpc_calls_waiting"]
        names += ["mcpc_handler_processes", "mcpc_handler_memory_bytes"]
        assert [*gauges] == [name for name in names if memory or "memory" not in name]
    assert abs(gauges.pop("process_start_time_seconds")() - time.time()) < 60
    assert [read() for read in gauges.values()] == [7, 0, 0, 0]
    driver.dispatcher = SimpleNamespace(pids=[1, 2, 3], waiting=4)
    assert [read() for read in gauges.values()] == [7, 4, 3, 21]


def test_lines_have_stamps_unless_a_terminal_or_the_journal_adds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT)
    status = os.fstat(file)
    own = f"{status.st_dev}:{status.st_ino}"
    monkeypatch.setattr(LineFormat, "prefix", None)
    server_log.stamp_lines({"JOURNAL_STREAM": own}, file)
    monkeypatch.setattr(os, "isatty", lambda descriptor: descriptor == 99)
    server_log.stamp_lines({}, 99)
    assert LineFormat.prefix is None
    server_log.stamp_lines({"JOURNAL_STREAM": own + "1"}, file)
    assert LineFormat.prefix is server_log.prefix and server_log.prefix().endswith("Z ")
    os.close(file)
    assert not server_log.is_journal(own, file)


def test_an_asgi_server_is_told_why_there_is_no_application(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    image = SimpleNamespace(archive="")
    said: list[Any] = []
    monkeypatch.setattr(serve, "activate_server_packages", said.append)
    monkeypatch.setattr(serve, "image_of", lambda archive: image)
    monkeypatch.setattr(serve, "stamp_lines", lambda environment: said.append(environment is os.environ))
    monkeypatch.setattr(serve, "build_application", lambda image, settings: (f"for {image.archive}", settings))
    assert serve.application("x.pyz") == f"for {os.path.abspath('x.pyz')}"
    assert said == ["x.pyz", True]

    def fail(*_: object) -> None:
        raise ServeError(8, "no")

    monkeypatch.setattr(serve, "build_application", fail)
    with pytest.raises(SystemExit) as left:
        serve.application("x.pyz")
    assert (left.value.code, capsys.readouterr().err) == (8, "error: no\n")
