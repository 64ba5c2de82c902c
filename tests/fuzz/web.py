"""The second thing that is fuzzed: the ASGI application, in this process, with a clock that does not wait.

Each line of the data is one request as JSON (`METHOD`, `PATH`, … are its members), which good headers are added to
unless it says otherwise; a line that begins with `!` tells a handler, or the clock, what to do.  Whatever comes, there
is one answer with a status we know, whose body is what its headers say; nobody gets a session who was refused; and when
all clients have gone nothing is left.

The first byte says how the application is set up, and what becomes of who writes to a client that has gone.
"""

import asyncio
import json
import selectors
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from fuzz.books import check, due, key
from fuzz.handlers import Stage, playing
from fuzz.subject import Subject, image
from fuzz.target import ABLE, COMPLETION, EVERYTHING, LISTEN, RESPONSES, UPDATE
from mcpc_runtime import log
from mcpc_runtime.http import app, legacy_sse, post_response
from mcpc_runtime.http.app import Application
from mcpc_runtime.http.request import is_stateless
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

MOST_REQUESTS = 40
METHODS = ("POST", "GET", "DELETE", "OPTIONS", "HEAD", "PUT", "BREW")
STATUSES = {200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 413, 415, 421, 503}
BODY_LIMIT = 3000
GOOD = {"host": "127.0.0.1:8000", "content-type": "application/json", "accept": "application/json, text/event-stream"}
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
TOLD = (app, legacy_sse, post_response, log)


class Warp(asyncio.SelectorEventLoop):
    """A loop whose clock goes on when there is nothing to do, by just as much as would have been waited."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(Impatient(self))

    def time(self) -> float:
        return self.now


class Impatient(selectors.DefaultSelector):
    def __init__(self, loop: Warp) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        """Return what is ready; if that is nothing, let time pass."""
        found = super().select(0)
        if not found and timeout is None:
            raise AssertionError("everybody waits for ever")
        if not found:
            self._loop.now += timeout or 0
        return found


class Head:
    """A head as the server that is carried reads it."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.method, self.path, self.headers = scope["method"], scope["path"], scope["headers"]
        self.query = scope.get("query_string", b"")
        self.parsed: Any = None


class Exchange:
    def __init__(self, scope: dict[str, Any], body: bytes, plan: dict[str, Any]) -> None:
        self.scope = scope
        self.body = body
        self.status = 0
        self.headers: dict[str, str] = {}
        self.data = b""
        self.is_whole = False
        self.is_left = asyncio.Event()
        self.leave = plan.get("leave") if type(plan.get("leave")) is int else -1
        self.is_strict = plan.get("deaf") is not True
        cut = plan.get("cut")
        size = max(1, len(body) // cut + 1) if type(cut) is int and 0 < cut < 50 else len(body) + 1
        self.parts = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
        self.received = 0
        self.task: asyncio.Task[None]

    async def receive(self) -> dict[str, Any]:
        """Return a part of the body; afterwards wait until the client goes."""
        if 0 <= self.leave <= self.received:
            self.is_left.set()
        self.received += 1
        if not self.is_left.is_set() and self.parts:
            part = self.parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(self.parts)}
        await self.is_left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if self.is_left.is_set():
            if self.is_strict:
                raise OSError("the client has gone")
            return
        if message["type"] == "http.response.start":
            assert not self.status, "an answer begins once"
            self.status = message["status"]
            names = [name.decode("ascii") for name, _ in message["headers"]]
            assert len(names) == len(set(names)) and all(name == name.lower() for name in names), names
            for name, value in message["headers"]:
                assert not set(value) & set(b"\r\n\0"), (name, value)
                self.headers[name.decode()] = value.decode("latin-1")
            return
        assert self.status and not self.is_whole, "a body comes after its head, and ends once"
        self.data += message.get("body", b"")
        self.is_whole = not message.get("more_body")

    async def run(self, application: Application, *, at_once: bool) -> None:
        """Have it answered; by the shorter way if the server would take that."""
        try:
            found = None
            if at_once and self.scope["method"] == "POST" and self.leave != 0:
                self.scope["mcpc.head"] = head = Head(self.scope)
                found = application.answer_now(head, self.body)
            if found is None:
                await application(self.scope, self.receive, self.send)
                return
            self.parts.clear()
            made, more = found
            if type(made) is not tuple:
                made = await made.serve(self.receive, self.send, more)
            if made is not None:
                status, headers, body = made
                await self.send({"type": "http.response.start", "status": status, "headers": [*headers, *more]})
                await self.send({"type": "http.response.body", "body": body})
        except OSError:
            assert self.is_left.is_set() and self.is_strict

    def judge(self) -> None:
        if not self.status:
            assert self.is_left.is_set(), "nothing was answered"
            return
        assert self.status in STATUSES, self.status
        assert self.is_whole or self.is_left.is_set(), "an answer has an end"
        kind = self.headers.get("content-type", "")
        if kind == "text/event-stream":
            assert (self.status == 200 and "content-length" not in self.headers) or self.is_whole
            found = list(events(self.data)) if self.is_whole else []
        else:
            assert self.is_left.is_set() or self._has_its_length(), self.headers
            found = [json.loads(self.data)] if kind == "application/json" and self.is_whole and self.data else []
            assert not self.data or kind in ("application/json", "text/plain; charset=utf-8") or "version=" in kind, (
                kind
            )
        assert ("mcp-session-id" in self.headers) <= (self.status == 200)
        if self.status not in (200, 202, 204):
            assert all("error" in message for message in found if type(message) is dict), found
        self._judge_messages([one for message in found for one in (message if type(message) is list else [message])])

    def _has_its_length(self) -> bool:
        length = self.headers.get("content-length")
        if self.status == 204:
            return length is None and not self.data
        return length is not None and int(length) == len(self.data)

    def _judge_messages(self, found: list[Any]) -> None:
        """Hold that a request that was answered whole was answered once, and in words that are not a fault of ours."""
        is_batch = self.body.strip().startswith(b"[")
        for message in found:
            assert message["jsonrpc"] == "2.0"
            words = message.get("error", {}).get("message", "")
            assert "Error:" not in words and "Exception:" not in words, words
            if "error" in message and not is_batch:
                assert message.get("id", "") is not None, "over HTTP an id that is not known is left out"
        try:
            asked = parse(self.body)
        except ParseError:
            return
        if type(asked) is list and self.status == 200:
            owed = Counter(one for one in map(due, asked) if one is not None)
            paid = Counter(key(one["id"]) for one in found if "method" not in one)
            assert paid <= owed, (paid, owed)
        is_one = type(asked) is dict and self.scope["method"] == "POST" and self.scope["path"] == "/mcp"
        if is_one and self.status == 200 and self.is_whole and asked.get("method") != "initialize":  # type: ignore[union-attr]
            answers = [message for message in found if "method" not in message]
            assert len(answers) <= 1 and all(one["id"] == asked.get("id") for one in answers), answers  # type: ignore[union-attr]
            if answers and "result" in answers[0] and is_stateless(asked):
                check(answers[0], "2026-07-28", str(asked.get("method")))  # type: ignore[union-attr]


def events(data: bytes) -> Iterator[Any]:
    """Yield the messages of a stream, which is well-formed."""
    assert data.endswith(b"\n\n") or not data, data
    for block in data.split(b"\n\n")[:-1]:
        fields = [line.partition(b": ") for line in block.split(b"\n") if not line.startswith(b":")]
        assert all(name in (b"id", b"data", b"event", b"retry") for name, _, _ in fields), block
        said = [value for name, _, value in fields if name == b"data"]
        assert len(said) <= 1, block
        kind = [value for name, _, value in fields if name == b"event"]
        if said and said[0] and kind != [b"endpoint"]:
            yield json.loads(said[0])


class World:
    def __init__(self, how: int, players: Stage) -> None:
        chosen = {
            "sse": bool(how & 1),
            "has_metrics": bool(how & 2),
            "max_sessions": 4 if how & 8 else 4096,
            "max_streams": 2 if how & 16 else 4096,
            "resume_events": (0, 2, 256, 256)[how >> 5 & 3],
            "origins": ("https://app.example",),
            "body_limit": BODY_LIMIT,
            "grace_seconds": 2.0,
        }
        self.how = how
        self.players = players
        self.application = Application(image(), HttpSettings(**chosen))
        self.application.begin()
        self.driver = self.application.drivers[0]
        self.exchanges: list[Exchange] = []
        self.minted: list[str] = []
        self._mint = self.driver.sessions.mint
        self.driver.sessions.mint = self.mint  # type: ignore[method-assign]

    def mint(self, session: Any) -> str:
        self.minted.append(self._mint(session))
        return self.minted[-1]

    async def take(self, line: bytes) -> None:
        if line.startswith(b"!"):
            await self.obey(line[1:].strip().decode("latin-1"))
        elif len(self.exchanges) < MOST_REQUESTS:
            exchange = self.planned(self.filled(line))
            if exchange is not None:
                self.exchanges.append(exchange)
                exchange.task = asyncio.create_task(exchange.run(self.application, at_once=bool(self.how & 4)))
        for _ in range(8):
            await asyncio.sleep(0)

    async def obey(self, word: str) -> None:
        """Have a handler, a client or the clock do what a word says."""
        if word.startswith("wait"):
            await asyncio.sleep({"wait": 0.02, "waitlong": 1.5}.get(word, 20.0))
        elif word == "leave":
            for exchange in self.exchanges[-1:]:
                exchange.is_left.set()
        else:
            self.players.obey(word)
            self.driver.run_queued()

    def filled(self, line: bytes) -> bytes:
        """Return a line with what the server said in the place of words for it."""
        said = b"".join([exchange.data for exchange in self.exchanges[-8:]])
        words = {
            b"@SESSION@": self.minted[-1].encode() if self.minted else b"",
            b"@STATE@": after(said, b'"requestState":"', b'"'),
            b"@TASK@": after(said, b'"taskId":"', b'"'),
            b"@ASKED@": after(said, b'"id":"mcpc-', b'"', b"mcpc-"),
            b"@EVENT@": after(said, b"\nid: ", b"\n") or after(said, b"id: ", b"\n"),
            b"@ELDER@": after(said, b"data: /messages?session_id=", b"\n"),
        }
        for word, value in words.items():
            line = line.replace(word, value)
        return line

    def planned(self, line: bytes) -> Exchange | None:
        """Return the request that a line says, if it says one."""
        try:
            plan = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if type(plan) is not dict:
            return None
        method, path = str(plan.get("method", "POST")), str(plan.get("path", "/mcp"))
        body = plan.get("body", "")
        data = body.encode("utf-8", "replace") if type(body) is str else json.dumps(body).encode()
        where, _, query = path.partition("?")
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": where,
            "query_string": query.encode("utf-8", "replace"), "headers": headers(plan, body, len(data)),
        }  # fmt: skip
        return Exchange(scope, data, plan)

    async def end(self) -> None:
        """Have every handler end and every client go, or the server while they are there; then nothing is left."""
        if self.how & 128:
            await self.application.shutdown()
        else:
            await self.end_handlers()
        await asyncio.sleep(2.0)
        self.is_clean()
        await self.application.shutdown()
        for exchange in self.exchanges:
            exchange.is_left.set()
        await asyncio.sleep(2.0)
        self.judge()

    async def end_handlers(self) -> None:
        """Have every handler end and every client go."""
        for _ in range(4):
            while self.players.obey("end"):
                self.driver.run_queued()
                await asyncio.sleep(0.01)
            await asyncio.sleep(2.0)
        for exchange in self.exchanges:
            exchange.is_left.set()
        for conversation in self.driver.sessions.live.values():
            for identifier in list(conversation.session.running):
                self.driver.perform(conversation.session.drop(identifier))

    def judge(self) -> None:
        for exchange in self.exchanges:
            assert exchange.task.done(), "somebody still waits"
            exchange.task.result()
            exchange.judge()
        given = [one.headers["mcp-session-id"] for one in self.exchanges if "mcp-session-id" in one.headers]
        lost = [one for one in self.exchanges if one.is_left.is_set()]
        assert set(given) <= set(self.minted) and len(self.minted) <= len(given) + len(lost)

    def is_clean(self) -> None:
        """Hold that nothing is kept for clients that have gone but what they may come back for."""
        kept, held = self.driver, self.driver.sessions
        assert not kept.posts and not kept.listening and not kept.streams, (kept.posts, kept.listening, kept.streams)
        assert len(held.live) <= len(self.minted) and len(held.live) <= self.application.settings.max_sessions
        assert not any(conversation.is_busy for conversation in held.live.values())
        assert {id(one.session) for one in held.live.values()} == {id(one) for one in held.by_session}
        assert held._stored.total == sum(stream.stored_bytes for stream in held._resumable), "what is kept is reckoned"
        assert all(conversation.token in held.live for conversation in held._resumable.values()), (
            "of whom nothing is known"
        )
        assert not self.driver.dispatcher or not self.driver.dispatcher.calls


def after(data: bytes, before: bytes, end: bytes, head: bytes = b"") -> bytes:
    """Return what stood last between two texts."""
    _, found, rest = data.rpartition(before)
    return head + rest.partition(end)[0] if found else b""


def headers(plan: dict[str, Any], body: Any, length: int) -> list[tuple[bytes, bytes]]:
    """Return the headers of a plan, after good ones that it does not replace."""
    given = plan.get("headers")
    own = given if type(given) is dict else dict(one for one in given if pair(one)) if type(given) is list else {}
    usual: dict[str, Any] = {**GOOD, "content-length": str(length)} if plan.get("bare") is not True else {}
    params = body.get("params") if type(body) is dict else None
    if plan.get("mirror") is True and type(params) is dict and type(body.get("method")) is str:
        usual.update(mirrors(body["method"], params))
    if plan.get("session") is True:
        usual["mcp-session-id"] = own.get("mcp-session-id", "")
    wanted = [(name, value) for name, value in usual.items() if name not in own] + list(own.items())
    twice = [one for one in given if pair(one)][:3] if type(given) is list else []
    named = [(str(name).lower().encode("latin-1", "replace"), encoded(value)) for name, value in [*wanted, *twice]]
    return [(name, value) for name, value in named if value != b"-"]


def mirrors(method: str, params: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the headers that repeat what a stateless request says."""
    yield "mcp-method", method
    yield "mcp-protocol-version", "2026-07-28"
    for member in ("name", "uri", "taskId"):
        if type(params.get(member)) is str:
            yield "mcp-name", params[member]


def pair(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and type(value[0]) is str


def encoded(value: Any) -> bytes:
    """Return a value as a server that reads heads would let it through."""
    data = (value if type(value) is str else json.dumps(value)).encode("latin-1", "replace")
    return bytes(byte for byte in data if byte not in b"\r\n\0").strip()


@contextmanager
def faults() -> Iterator[list[str]]:
    """Gather what is only told, because one fault must not end what serves everybody."""
    found: list[str] = []
    real = [(module, module.log_line) for module in TOLD if hasattr(module, "log_line")]
    for module, _ in real:
        module.log_line = lambda text: found.append(text)  # type: ignore[attr-defined]
    before = post_response.UNWATCHED_SECONDS
    try:
        yield found
    finally:
        post_response.UNWATCHED_SECONDS = before
        for module, log_line in real:
            module.log_line = log_line  # type: ignore[attr-defined]


def browse(data: bytes) -> int:
    """Have a server asked all this; return how many requests there were."""
    if not data:
        return 0

    async def scenario(players: Stage, found: list[str]) -> int:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(str(context)))
        world = World(data[0], players)
        for line in data[1:].splitlines():
            await world.take(line)
        await world.end()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        assert not rest, rest
        return len(world.exchanges)

    with playing() as players, faults() as found:
        made = run(scenario(players, found))
    wrong = [words for words in found if "calls were ended that had not finished" not in words]
    assert not wrong, wrong
    return made


def run(scenario: Coroutine[Any, Any, int]) -> int:
    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(scenario)


def plan(**members: Any) -> bytes:
    return json.dumps(members).encode() + b"\n"


def modern(method: str, params: str = "", identifier: object = 1, able: bool = True, **more: Any) -> bytes:
    meta = {VERSION: "2026-07-28", CAPABILITIES: EVERYTHING if able else {}, "progressToken": "p"}
    body = {
        "jsonrpc": "2.0",
        "id": identifier,
        "method": method,
        "params": {**json.loads("{" + params + "}"), "_meta": meta},
    }
    return plan(body=body, mirror=True, **more)


def legacy(method: str, params: str = "", identifier: object = 1, **more: Any) -> bytes:
    body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": json.loads("{" + params + "}")}
    return plan(body=body, headers={"mcp-session-id": "@SESSION@"}, **more)


def hello(version: str = "2025-11-25") -> bytes:
    return legacy("initialize", f'"protocolVersion":"{version}","capabilities":{ABLE}').replace(b"@SESSION@", b"-")


def reading(**headers: Any) -> bytes:
    return plan(
        method="GET", headers={"mcp-session-id": "@SESSION@", "content-type": "-", "content-length": "-", **headers}
    )


ECHO = '"name":"echo","arguments":{"text":"x"}'
ASKING = '"name":"asking","arguments":{"text":"x"}'
LONG = '"name":"long","arguments":{"text":"x"}'
REGION = '"name":"test_x_mcp_header","arguments":{"region":"west"}'
ANSWER = plan(
    headers={"mcp-session-id": "@SESSION@"},
    body={"jsonrpc": "2.0", "id": "@ASKED@", "result": {"action": "accept", "content": {"name": "Ann"}, "roots": []}},
)
CANCEL = plan(
    headers={"mcp-session-id": "@SESSION@"},
    body={"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}},
)
BATCH = plan(
    headers={"mcp-session-id": "@SESSION@"},
    body=[
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": json.loads("{" + ECHO + "}")},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": json.loads("{" + ECHO + "}")},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ],
)


def batch(*lines: bytes) -> bytes:
    return plan(headers={"mcp-session-id": "@SESSION@"}, body=[json.loads(line)["body"] for line in lines])


ELDER = plan(method="GET", path="/sse", headers={"content-type": "-", "content-length": "-"})
SEEDS: tuple[bytes, ...] = (
    modern("tools/list") + modern("server/discover") + modern("nope") + modern("resources/read", '"uri":"test://plain"'),
    modern("tools/call", ECHO) + b"!wait\n!end\n",
    modern("tools/call", ECHO) + b"!progress\n!log\n!wait\n!less\n!end\n",
    modern("tools/call", ECHO) + b"!waitlong\n!fail\n" + modern("tools/call", ECHO) + b"!leave\n!wait\n!end\n",
    modern("tools/call", ECHO, leave=1) + modern("tools/call", ECHO, leave=0) + modern("tools/call", ECHO, cut=5, leave=3),
    modern("tools/call", REGION, headers={"mcp-param-region": "west"}) + b"!end\n" + modern("tools/call", REGION, headers={"mcp-param-region": "=?base64?d2VzdA==?="}) + b"!end\n",
    modern("subscriptions/listen", LISTEN) + modern("tools/call", ECHO, 2) + b"!updated\n!changed\n!end\n!waitlonger\n",
    modern("subscriptions/listen", LISTEN, headers={"accept": "application/json"}) + modern("subscriptions/listen", LISTEN) + b"!leave\n" + modern("subscriptions/listen", LISTEN) * 3,
    modern("tools/call", ASKING, 2) + modern("tools/call", ASKING + RESPONSES, 3) + b"!form\n" + modern("tools/call", ASKING + RESPONSES, 4) + b"!form\n!end\n",
    modern("tools/call", LONG, 2) + b"!wait\n" + modern("tasks/get", '"taskId":"@TASK@"', 3) + b"!wait\n" + modern("tasks/update", UPDATE, 4) + b"!wait\n!form\n!wait\n" + modern("tasks/cancel", '"taskId":"@TASK@"', 5) + b"!wait\n",
    modern("completion/complete", COMPLETION, able=False) + modern("prompts/get", '"name":"test_simple_prompt"') + b"!end\n",
    hello() + legacy("tools/list") + legacy("tools/call", ECHO, 2) + b"!end\n" + legacy("nope") + plan(method="DELETE", headers={"mcp-session-id": "@SESSION@"}) + legacy("ping"),
    hello("2025-03-26") + BATCH + b"!progress\n!end\n!end\n" + BATCH + b"!wait\n" + CANCEL + b"!end\n",
    hello("2025-03-26") + batch(modern("subscriptions/listen", LISTEN, 9), modern("tools/call", ECHO, 8)) + b"!updated\n!wait\n!end\n!leave\n",
    hello("2025-03-26") + BATCH.replace(b'"id": 3', b'"id": 2') + BATCH,
    hello("2025-03-26") + BATCH.replace(b'"id": 3', b'"id": 2').replace(b'"headers": {', b'"headers": {"accept": "application/json", '),
    hello() + reading() + legacy("resources/subscribe", '"uri":"test://plain"') + legacy("tools/call", ECHO, 2) + b"!updated\n!changed\n!end\n!waitlonger\n!leave\n" + reading() * 6,
    hello() + legacy("tools/call", ECHO, 2) + b"!form\n!wait\n" + ANSWER + b"!end\n",
    hello() + reading() + legacy("tools/call", ECHO, 2) + b"!part\n!wait\n" + reading(**{"last-event-id": "@EVENT@"}) + b"!progress\n!log\n!end\n!wait\n",
    hello() + legacy("tools/call", ECHO, 2) + b"!log\n!wait\n!leave\n!log\n" + reading(**{"last-event-id": "@EVENT@"}) + b"!log\n!end\n!wait\n",
    hello() + legacy("tools/call", ECHO, 2) + b"!several\n!wait\n" + CANCEL + b"!wait\n" + legacy("tools/call", ECHO, 2) + b"!call\n!end\n!end\n",
    hello("2024-11-05") + hello("2025-06-18") + hello() + hello() + legacy("logging/setLevel", '"level":"debug"') + hello() + legacy("logging/setLevel", '"level":"debug"'),
    ELDER + legacy("initialize", f'"protocolVersion":"2024-11-05","capabilities":{ABLE}', path="/messages?session_id=@ELDER@") + legacy("tools/call", ECHO, 2, path="/messages?session_id=@ELDER@") + b"!log\n!model\n!end\n!wait\n" + legacy("ping", path="/messages?session_id=@ELDER@"),
    ELDER + legacy("tools/call", ECHO, 2, path="/messages?session_id=@ELDER@") + b"!leave\n!wait\n" + ELDER + ELDER,
    plan(method="OPTIONS", headers={"origin": "https://app.example"}) + plan(method="GET", path="/healthz") + plan(method="HEAD", path="/readyz") + plan(method="GET", path="/metrics") + plan(method="PUT", path="/other"),
    plan(body="{", headers={"content-type": "application/json; charset=utf-8"}) + plan(body="x" * 4000) + plan(body="{}", headers=[["host", "a"], ["host", "b"]]) + plan(bare=True, body="{}"),
    plan(body={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers={"host": "evil.example"}) + plan(body={}, headers={"origin": "http://evil.example"}),
    plan(body={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers={"content-length": "5", "transfer-encoding": "chunked"}) + plan(body=[], headers={"content-encoding": "gzip"}),
    modern("tools/call", ECHO, headers={"accept": "text/event-stream"}) + b"!end\n" + modern("tools/list", headers={"accept": "text/event-stream", "origin": "https://app.example"}),
    modern("tools/list", headers={"mcp-method": "tools/call"}) + modern("tools/call", ECHO, headers={"mcp-name": "=?base64?AA=?="}) + modern("tools/list", headers={"mcp-protocol-version": "2025-11-25"}),
    plan(body={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers={"mcp-protocol-version": "2026-07-28"}) + plan(body={"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}),
)  # fmt: skip
WORDS: tuple[bytes, ...] = (
    b'"mcp-session-id": "@SESSION@"', b'"last-event-id": "@EVENT@"', b'"mirror": true', b'"bare": true', b'"leave": 1', b'"leave": 2', b'"deaf": true', b'"cut": 3',
    b'"method": "GET"', b'"method": "DELETE"', b'"path": "/sse"', b'"path": "/mcp/"', b'"accept": "application/json"', b'"origin": "null"', b", ", b"{", b"}", b"[", b"]",
    b'"mcp-protocol-version": "2026-07-28"', b'"mcp-protocol-version": "2025-06-18"', b'"\\u00e9"', b'"' + b"a" * 2500 + b'"', b'{"a":' * 300,
    b"\n!end\n", b"\n!fail\n", b"\n!form\n", b"\n!roots\n", b"\n!several\n", b"\n!call\n", b"\n!turn\n", b"\n!wait\n", b"\n!waitlong\n", b"\n!waitlonger\n", b"\n!leave\n",
    b"\n!progress\n", b"\n!log\n", b"\n!updated\n", b"\n!changed\n", b"\n!part\n", BATCH, ANSWER, CANCEL, ELDER, hello("2025-03-26"), hello(), reading(),
)  # fmt: skip
WEB = Subject(browse, SEEDS, WORDS)
