"""One connection of the embedded server, without a socket: what is read, written, paused, closed and charged.

`connections.steps` has the steps: `> BYTES` arrive, `< PARTS` are read by the application, `= STATUS HEADERS BODY` is
its answer, `now SECONDS` is the time at which limits are checked, and other words are calls of the connection.
"""

import asyncio
import json
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.http.serve import prepare
from mcpc_runtime.http.server_log import RefusalLog
from mcpc_runtime.http.settings import HttpSettings
from support.needs import ROOT

prepare()
from uvicorn.config import Config  # noqa: E402
from uvicorn.server import ServerState  # noqa: E402

from mcpc_runtime.http.embedded import connection, cycle  # noqa: E402
from mcpc_runtime.http.embedded.connection import Connection  # noqa: E402
from mcpc_runtime.http.embedded.cycle import RequestCycle  # noqa: E402

STEPS = ROOT / "tests/golden/http/connections.steps"


class Transport:
    def __init__(self, said: list[str]) -> None:
        self.said = said
        self.closing = False
        self.unsent = 0
        self.socket = SimpleNamespace(
            setsockopt=lambda *words: said.append("reset on close"),
            getsockname=lambda: ("127.0.0.1", 8000),
            getpeername=lambda: ("192.0.2.1", 5),
            family=socket.AF_INET,
        )

    def get_extra_info(self, name: str) -> Any:
        return self.socket if name == "socket" else None

    def write(self, data: bytes) -> None:
        text = data.decode("latin-1")
        shown = text if len(text) < 400 else f"{text[:200]}…{len(text)}"
        self.said += [f"| {row}" for row in shown.replace("\r\n", "\\r\n").split("\n")]

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def close(self) -> None:
        self.closing = True
        self.said.append("close")

    def abort(self) -> None:
        self.closing = True
        self.said.append("abort")

    def write_eof(self) -> None:
        self.said.append("end of output")

    def pause_reading(self) -> None:
        self.said.append("pause")

    def resume_reading(self) -> None:
        self.said.append("resume")


class Application:
    """Answers each request when the test says so."""

    def __init__(self, said: list[str]) -> None:
        self.said = said
        self.receive: Any = None
        self.send: Any = None
        self.ended = asyncio.Event()
        self.failure: Exception | None = None
        self.refusal_log = RefusalLog(lambda: ("/mcp",))
        self.reply: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        shown = {name: scope[name] for name in ("method", "path", "query_string", "http_version", "client", "headers")}
        self.said.append(f"request {shown}")
        self.receive, self.send = receive, send
        self.ended.clear()
        await self.ended.wait()
        if self.failure is not None:
            raise self.failure

    def answer_now(self, head: Any, body: bytes, client: Any) -> Any:
        if head.path == "/fails":
            raise ZeroDivisionError("as injected")
        if head.path == "/now":
            return (200, [(b"x", b"y"), *([(b"connection", b"close")] if b"close" in body else [])], body), [
                (b"cors", b"1")
            ]
        return (self.reply, [(b"cors", b"1")]) if head.path == "/later" else None


class Pending:
    """A reply that is not ready at once."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def serve(self, receive: Any, send: Any, more: Any) -> Any:
        self.application.said.append(f"pending {more}")
        self.application.receive, self.application.send = receive, send
        self.application.ended.clear()
        await self.application.ended.wait()
        if self.application.failure is not None:
            raise self.application.failure
        return self.application.reply_of


async def plain(scope: Any, receive: Any, send: Any) -> None:
    """Answer nothing: an application that has neither a log nor answers at once."""


class Talk:
    """A connection, and what came of each step."""

    def __init__(self, chosen: dict[str, Any]) -> None:
        self.said: list[str] = []
        self.now = 100.0
        self.loop = asyncio.get_running_loop()
        self.application: Any = Application(self.said)
        self.application.reply = Pending(self.application)
        self.state = ServerState()
        self.state.default_headers = [(b"date", b"today")]
        self.state.connections.update(range(chosen.pop("others", 0)))  # type: ignore[arg-type]
        self.settings = HttpSettings(**chosen)
        app = self.application if chosen.get("max_connections") != 99 else plain
        config = Config(app, ws="none", log_config=None, access_log=False, interface="asgi3", proxy_headers=False)
        config.load()
        timed: Any = SimpleNamespace(
            time=lambda: self.now, create_task=self.loop.create_task, call_soon=self.loop.call_soon
        )
        self.connection = Connection(self.settings, config, self.state, {}, timed)
        self.transport = Transport(self.said)
        self.connection.connection_made(self.transport)  # type: ignore[arg-type]

    async def step(self, line: str) -> None:
        kind, _, text = line.partition(" ")
        if kind == ">":
            self.connection.data_received(text.encode("latin-1").decode("unicode_escape").encode("latin-1"))
        elif kind == "fill":
            self.connection.data_received(bytearray(b"x" * int(text)))  # type: ignore[arg-type]
        elif kind == "<":
            await self.read(int(text or 1))
        elif kind == "=":
            await self.answer(text)
        elif kind == "now":
            self.now = float(text)
            self.connection.check_limits(self.now)
        elif kind == "unsent":
            self.transport.unsent = int(text)
        elif kind == "writable":
            self.connection.resume_writing() if text == "yes" else self.connection.pause_writing()
        elif kind == "charge":
            self.said.append(f"charged {self.settings.budget.charge(None, int(text))}")
        else:
            getattr(self.connection, kind)(*([None] if kind == "connection_lost" else []))
        for _ in range(5):
            await asyncio.sleep(0)

    async def read(self, times: int) -> None:
        for _ in range(times):
            try:
                message = await asyncio.wait_for(self.application.receive(), 0.05)
            except TimeoutError:
                self.said.append("nothing arrives")
                return
            body = message.get("body", b"")
            shown = {**message, "body": body if len(body) < 100 else len(body)} if "body" in message else message
            self.said.append(f"received {shown}")

    async def answer(self, text: str) -> None:
        """Send a part of an answer: a status and headers, a body, or the end of the application's coroutine."""
        kind, _, rest = text.partition(" ")
        application = self.application
        if kind == "fill":
            kind, rest = "part", "x" * int(rest)
        if kind == "start":
            status, _, headers = rest.partition(" ")
            pairs = [(name.encode(), value.encode()) for name, value in json.loads(headers or "{}").items()]
            await application.send({"type": "http.response.start", "status": int(status), "headers": pairs})
        elif kind in ("body", "part"):
            sending = application.send(
                {"type": "http.response.body", "body": rest.encode(), "more_body": kind == "part"}
            )
            try:
                await asyncio.wait_for(sending, 0.05)
            except TimeoutError:
                self.said.append("waits")
            except RuntimeError as problem:
                self.said.append(f"RuntimeError: {problem}")
        else:
            application.failure = ValueError(rest) if kind == "fail" else None
            status, _, body = rest.partition(" ")
            application.reply_of = (int(status), [(b"a", b"b")], body.encode()) if kind == "reply" else None
            application.ended.set()


def test_what_arrives_is_answered(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    for place in ("cycle.log_line", "connection.log_line", "cycle.log_failure", "connection.log_failure"):
        module, _, name = place.partition(".")
        note = (
            (lambda text: said.append(f"log: {text}"))
            if name == "log_line"
            else (lambda problem: said.append(f"failure: {problem}"))
        )
        monkeypatch.setattr({"cycle": cycle, "connection": connection}[module], name, note)
    monkeypatch.setattr("mcpc_runtime.http.server_log.log_line", lambda text: said.append(f"log: {text}"))

    async def talk() -> str:
        found: list[str] = []
        for section in STEPS.read_text("utf-8").split("# ")[1:]:
            title, *steps = section.splitlines()
            connection.cached_heads.clear()
            talker = Talk(json.loads(steps.pop(0)[2:]) if steps[0].startswith("%") else {})
            found.append(f"# {title}\n")
            for line in ["", *steps]:
                if line:
                    await talker.step(line)
                found += [f"{line}\n"] if line else []
                rows = [*talker.said, *said]
                for limit, name in (
                    (talker.connection.deadline, "deadline"),
                    (talker.settings.budget.held_by(None), "charged"),
                ):
                    rows += [f"{name} {limit:g}"] if getattr(talker, name, None) != limit else []
                    setattr(talker, name, limit)
                found += [f"  {row}\n" for row in rows]
                talker.said.clear()
                said.clear()
            for task in list(talker.state.tasks):
                task.cancel()
            found.append(f"  requests {talker.state.total_requests}\n")
        await asyncio.sleep(0)
        return "".join(found)

    golden(STEPS.with_suffix(".said"), asyncio.run(talk()))


def test_a_cycle_is_as_large_as_what_was_not_read() -> None:
    head: Any = SimpleNamespace(expects=False, closes=False)
    made = RequestCycle(SimpleNamespace(pause=lambda: None), head, b"abc", more=True)  # type: ignore[arg-type]
    assert made.buffered == 3
    made.feed(b"de", more=False)
    assert (made.buffered, made.more) == (5, False)


def test_heads_are_cached_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_CACHED", 2)
    monkeypatch.setattr(connection, "MAX_CACHED_LENGTH", 40)
    connection.cached_heads.clear()

    async def run() -> list[list[int]]:
        talker, found = Talk({}), []
        for length in (30, 40, 41, 30, 31):
            talker.connection.data_received(b"GET /now HTTP/1.1\r\nHost: ".ljust(length - 4, b"a") + b"\r\n\r\n")
            found.append(sorted(map(len, connection.cached_heads)))
        return found

    assert asyncio.run(run()) == [[30], [30, 40], [30, 40], [30, 40], [31]]
    connection.cached_heads.clear()
