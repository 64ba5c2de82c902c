"""Requests and whole responses, with what is logged of them: of each endpoint, in this process.

`exchanges.steps` has the requests: `modern METHOD PARAMS` as a good client of the stateless era sends it, `init
REVISION CAPABILITIES`, `say MESSAGE` in that session, `post PATH BODY`, `GET PATH` and so on; behind each ` | ` is a
header that replaces the usual one, `-` for none, `session` for those of the session, or `leave`, for a client that leaves a stream.  `from ADDRESS` is the client's
address, `% JSON` the settings.
"""

import asyncio
import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.http import server_log
from mcpc_runtime.http.app import Application
from mcpc_runtime.http.auth.authenticator import TokenAuthenticator
from mcpc_runtime.http.auth.tokens import tokens_from
from mcpc_runtime.http.endpoint import SESSION_HEADER
from mcpc_runtime.http.settings import HttpSettings
from support.asgi import Answer, Client, mirrors, request, stateless
from support.http_sample import quiet, sample
from support.knocks import ECHO, LADDER, NAMES
from support.needs import ROOT

STEPS = ROOT / "tests/golden/http/exchanges.steps"
SERVERS = {"sample": sample, "quiet": quiet}
LONG = 1000
SHOWN = re.compile(r"mcpc_requests_total|mcpc_calls|mcpc_server|mcpc_sessions|mcpc_streams|mcpc_requests_in")


class Talker:
    """A client of one application, and what was said."""

    def __init__(self, settings: dict[str, Any]) -> None:
        server = settings.pop("server", "sample")
        images: Any = (
            {path: SERVERS[name]() for path, name in server.items()} if type(server) is dict else SERVERS[server]()
        )
        tokens = settings.pop("tokens", "")
        gate = TokenAuthenticator(tokens_from(tokens, "here")) if tokens else None
        self.application = Application(images, HttpSettings(authenticator=gate, **settings))
        self.address: tuple[str, int] | None = None
        self.client = Client(self.served)  # type: ignore[arg-type]
        self.last = ""

    async def served(self, scope: Any, receive: Any, send: Any) -> None:
        await self.application({**scope, "client": self.address}, receive, send)

    async def step(self, line: str) -> str:
        words, *given = line.split(" | ")
        kind, _, rest = words.partition(" ")
        if kind == "from":
            self.address = (rest, 5)
            return ""
        pairs = [
            pair
            for each in given
            if each != "leave"
            for pair in ([("", "")] if each == "session" else [tuple(each.split(": ", 1))])
        ]
        headers = [pair for name, value in pairs for pair in (self.client.names if not name else [(name, value)])]
        headers = [(name, self.last if value == "LAST" else value) for name, value in headers]
        leaves = "leave" in given
        return await self.shown(await self.answer(kind, rest, headers), leaves=leaves)

    async def answer(self, kind: str, rest: str, headers: list[tuple[str, str]]) -> Answer:
        path = dict(headers).get("path", "/mcp")
        headers = [pair for pair in headers if pair[0] != "path"]
        first, _, more = rest.partition(" ")
        if kind == "modern":
            params = json.loads(more) if more else None
            return await self.client.post(stateless(first, params), *mirrors(first, params), *headers, path=path)
        if kind == "init":
            client = {"name": "t", "version": "1"}
            params = {"protocolVersion": first, "capabilities": json.loads(more or "{}"), "clientInfo": client}
            answer = await self.client.post(request("initialize", params), *headers)
            self.client.session, self.client.version = answer.headers[SESSION_HEADER.decode()], first
            return answer
        if kind == "say":
            return await self.client.say(json.loads(rest), *headers)
        if kind == "post":
            return await self.client.post(more.encode(), *headers, path=first)
        named = dict([("host", "127.0.0.1:8000"), *headers])
        pairs = [(name.encode(), value.encode("latin-1")) for name, value in named.items() if value != "-"]
        return await self.client.open(kind, first, pairs)

    async def shown(self, answer: Answer, *, leaves: bool) -> str:
        """Return an answer, of a stream that the client leaves what came first."""
        if leaves:
            await answer.more()
            await answer.leave()
        body = (answer.buffer if leaves else await answer.body()).decode()
        self.last = (re.findall(r"^id: (.*)$", body, re.MULTILINE) or [self.last])[-1]
        if "# HELP" in body:
            del answer.headers["content-length"]
            body = "\n".join(row for row in body.splitlines() if SHOWN.match(row))
        lines = [
            f"{answer.status}",
            *(f"{name}: {value}" for name, value in answer.headers.items()),
            *body.splitlines(),
        ]
        return "".join(f"  {self.marked(row)}\n" for row in lines)

    def marked(self, row: str) -> str:
        """Return a row without what is random."""
        row = re.sub(r"^id: [0-9a-f]{8}\.", "id: ~.", row)
        row = re.sub(r"(session_id=)[0-9a-f]{32}", r"\1~", row)
        row = re.sub(r"^(mcp-session-id: ).*", r"\1~", row)
        return row if len(row) < LONG else f"{row[:80]}… {len(row)} {sha256(row.encode()).hexdigest()[:16]}"


async def talk(sections: list[tuple[str, dict[str, Any], list[str]]], logged: list[str]) -> str:
    """Return the sections with what came of each step."""
    found: list[str] = []
    for title, settings, steps in sections:
        talker = Talker(settings)
        talker.application.begin()
        found.append(f"# {title}\n")
        async with asyncio.timeout(60):
            for line in steps:
                found.append(f"{line}\n{await talker.step(line)}")
                found += [f"  log: {each}\n" for each in logged]
                logged.clear()
            await talker.application.shutdown()
            if not any(driver.sessions.by_session for driver in talker.application.drivers):
                assert not talker.application.settings.budget.held, title
    return "".join(found)


def sections_of(text: str) -> list[tuple[str, dict[str, Any], list[str]]]:
    """Return the titles, settings and steps of a text."""
    found = []
    for section in text.split("# ")[1:]:
        title, *steps = section.splitlines()
        settings = json.loads(steps.pop(0)[2:]) if steps[0].startswith("%") else {}
        found.append((title, settings, steps))
    return found


def test_requests_are_answered_whole(
    golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.go").touch()  # what the tool `steps` of the sample waits for
    logged: list[str] = []
    monkeypatch.setattr(server_log, "log_line", logged.append)
    monkeypatch.setattr(server_log, "MAX_LINES", 10_000)
    golden(STEPS.with_suffix(".answers"), asyncio.run(talk(sections_of(STEPS.read_text("utf-8")), logged)))


def test_headers_agree_with_bodies(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """The ladder of refusals: in its order, with one status for each code."""
    monkeypatch.setattr(server_log, "log_line", lambda line: None)
    steps = []
    for _, body, headers, _, _ in LADDER:
        text = body.decode() if isinstance(body, bytes) else json.dumps(body)
        named = {**dict(mirrors("tools/list")), **dict(headers)}
        steps.append(" | ".join([f"post /mcp {text}", *(f"{name}: {value}" for name, value in named.items())]))
    steps += [f"modern tools/call {json.dumps(ECHO)} | mcp-name: {name}" for name, _ in NAMES]
    golden(STEPS.with_name("ladder.answers"), asyncio.run(talk([("ladder", {}, steps)], [])))
