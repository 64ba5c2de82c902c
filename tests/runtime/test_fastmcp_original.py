"""The MCP client of a program with its original framework, against small programs that speak MCP over pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.python.context import Context
from mcpc_runtime.handlers.python.errors import ProtocolError
from mcpc_runtime.systems.fastmcp.original import calls
from mcpc_runtime.systems.fastmcp.original import client as module
from mcpc_runtime.systems.fastmcp.original.client import ProcessEndedError, ProgramClient, start_client
from mcpc_runtime.systems.fastmcp.original.process import AdoptedServers

HEAD = """import json, sys
def read():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit()
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def answer(message, result):
    send(id=message["id"], result=result)
answer(read(), {"capabilities": {}, "serverInfo": {"name": "x", "version": "1"}})
read()
"""
ASKS = """
calls = [read() for _ in range(CALLS)]
send(id="q", method="roots/list")
reply = read()
for call in calls:
    answer(call, {"reply": reply})
read()
"""


class Caller:
    """A caller: what it was notified of, and the answer of its client."""

    def __init__(self, client: str = "one") -> None:
        self.client = client
        self.notified: list[tuple[str, dict[str, Any]]] = []

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"roots": [method]}

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.notified.append((method, params))


def talk(program: str, talking: Callable[[ProgramClient], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        client = await start_client([sys.executable, "-c", HEAD + program])
        await client.initialize({}, {"name": "t", "version": "1"}, Caller())
        try:
            return await talking(client)
        finally:
            await client.close()

    return asyncio.run(main())


def test_results_errors_and_what_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    program = """
answer(read(), {"content": []})
print("a line for the operator", flush=True)
print('["json", "too"]', flush=True)
send(id=read()["id"], error={"code": -32602, "message": "no such tool", "data": 3})
answer(read(), 5)
read()
"""

    async def talking(client: ProgramClient) -> None:
        assert await client.request("tools/call", {}, Caller()) == {"content": []}
        with pytest.raises(ProtocolError, match="no such tool") as raised:
            await client.request("tools/call", {}, Caller())
        assert (raised.value.code, raised.value.data) == (-32602, 3)
        with pytest.raises(ProtocolError, match="no result"):
            await client.request("tools/call", {}, Caller())

    talk(program, talking)
    printed = capfd.readouterr().err
    assert "a line for the operator" in printed
    assert '["json", "too"]' in printed


def test_progress_goes_to_the_request_with_the_token() -> None:
    program = """
first, second = read(), read()
for call in (first, second):
    token = call["params"]["_meta"]["progressToken"]
    send(method="notifications/progress", params={"progressToken": token, "progress": call["params"]["n"]})
send(method="notifications/message", params={"level": "info", "data": "whose?"})
answer(first, {}), answer(second, {})
read()
"""

    async def talking(client: ProgramClient) -> None:
        callers = [Caller("one"), Caller("two")]
        params = [{"n": number, "_meta": {"progressToken": "same"}} for number in (1, 2)]
        await asyncio.gather(*(client.request("x/y", row, caller) for row, caller in zip(params, callers, strict=True)))
        assert [[row["progress"] for _, row in caller.notified] for caller in callers] == [[1], [2]]

    talk(program, talking)


class StandingProgram:
    """A process of a program that is there already, and records what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def client(self, _: object) -> StandingProgram:
        return self

    async def request(self, method: str, params: dict[str, Any], _: object) -> dict[str, Any]:
        self.asked.append((method, params))
        return {"content": []}


SESSION = {"session_id": "s", "client_info": {}, "transport": "http"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/logLevel": "info",
}


@pytest.mark.parametrize(
    ("meta", "forwarded"),
    [
        ({}, {}),
        (ENVELOPE, {}),
        ({**ENVELOPE, "progressToken": 5, "x/y": [1]}, {"_meta": {"progressToken": 5, "x/y": [1]}}),
        ({"io.modelcontextprotocol/other": 1}, {"_meta": {"io.modelcontextprotocol/other": 1}}),
    ],
)
def test_the_envelope_of_a_request_is_not_forwarded(
    meta: dict[str, Any], forwarded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = StandingProgram()
    monkeypatch.setattr(calls, "_programs", {False: program})
    context: Any = Context(SimpleNamespace(cancelled=False), "add", meta, {"client": {}, "answers": {}})
    asyncio.run(calls.call_tool({}, "add", {"a": 1}, SESSION, context))  # type: ignore[typeddict-item]
    assert program.asked == [("tools/call", {"name": "add", "arguments": {"a": 1}, **forwarded})]


@pytest.mark.parametrize(
    ("generation", "meta", "stateless"),
    [
        ("fastmcp4", ENVELOPE, True),
        ("sdk2", ENVELOPE, True),
        ("fastmcp4", {"x/y": 1}, False),
        ("fastmcp3", ENVELOPE, False),
        ("sdk1", ENVELOPE, False),
    ],
)
def test_a_request_of_an_extension_is_answered_in_its_era(
    generation: str, meta: dict[str, Any], stateless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {True: StandingProgram(), False: StandingProgram()}
    monkeypatch.setattr(calls, "_programs", programs)
    context: Any = Context(SimpleNamespace(cancelled=False), "skills/list", meta, {"client": {}, "answers": {}})
    program: Any = {"entry": {"generation": generation}}
    asyncio.run(calls.answer_request(program, "skills/list", {"cursor": "c"}, SESSION, context))
    forwarded = meta if stateless or meta is not ENVELOPE else {}
    assert programs[stateless].asked == [
        ("skills/list", {"cursor": "c", **({"_meta": forwarded} if forwarded else {})})
    ]
    assert programs[not stateless].asked == []


def test_a_request_to_the_client_goes_to_the_one_that_calls() -> None:
    async def talking(client: ProgramClient) -> Any:
        return await client.request("x/y", {}, Caller())

    assert talk(ASKS.replace("CALLS", "1"), talking)["reply"]["result"] == {"roots": ["roots/list"]}


def test_a_request_to_the_client_is_refused_when_several_clients_call() -> None:
    async def talking(client: ProgramClient) -> Any:
        calls = (client.request("x/y", {}, Caller(name)) for name in ("one", "two"))
        return (await asyncio.gather(*calls))[0]

    assert "several clients" in talk(ASKS.replace("CALLS", "2"), talking)["reply"]["error"]["message"]


def test_a_cancelled_request_is_cancelled_in_the_program() -> None:
    program = """
call = read()
send(method="notifications/progress", params={"progressToken": call["params"]["_meta"]["progressToken"]})
told = read()
answer(read(), {"told": told, "call": call["id"]})
read()
"""

    async def talking(client: ProgramClient) -> Any:
        caller = Caller()
        waiting = asyncio.create_task(client.request("x/y", {"_meta": {"progressToken": 1}}, caller))
        while not caller.notified:
            await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return await client.request("x/y", {}, Caller())

    found = talk(program, talking)
    assert found["told"]["method"] == "notifications/cancelled"
    assert found["told"]["params"]["requestId"] == found["call"]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("read(); sys.exit(7)", "exited with status 7"),
        ("import os; read(); os.kill(os.getpid(), 9)", "was killed by signal 9"),
        ("read(); print('x' * 5000, flush=True); read()", "more than"),
    ],
)
def test_what_ends_the_program_fails_its_requests(program: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_BYTES", 1000)

    async def talking(client: ProgramClient) -> None:
        with pytest.raises(ProcessEndedError, match=reason):
            await client.request("x/y", {}, Caller())
        assert client.has_ended
        with pytest.raises(ProcessEndedError, match=reason):
            await client.request("x/y", {}, Caller())

    talk(program, talking)


def test_a_program_that_does_not_serve_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.2)

    async def main() -> None:
        client = await start_client([sys.executable, "-c", "import time; time.sleep(600)"])
        with pytest.raises(ProcessEndedError, match="did not serve within"):
            await client.initialize({}, {}, Caller())
        assert client._process.returncode is not None

    asyncio.run(main())


def test_a_program_that_cannot_be_started() -> None:
    with pytest.raises(ProcessEndedError, match="cannot be started"):
        asyncio.run(start_client(["/nowhere/python"]))


class HighLevelServer:
    """A class of a framework, with two of the methods that serve over HTTP."""

    async def run_stdio_async(self) -> str:
        return "its own"

    async def run_http_async(self) -> str:
        return "over HTTP"

    async def run_sse_async(self) -> str:
        return "over HTTP"


def test_methods_that_serve_over_http_serve_over_pipes(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []

    async def serve(_: AdoptedServers, server: object) -> None:
        served.append(server)

    monkeypatch.setattr(AdoptedServers, "serve", serve)
    AdoptedServers._serve_over_pipes(AdoptedServers.__new__(AdoptedServers), HighLevelServer)
    server = HighLevelServer()
    methods = [name for name in dir(server) if name.startswith("run")]
    for name in methods:
        found = getattr(server, name)()
        if name != "run":
            asyncio.run(found)
    assert methods == ["run", "run_http_async", "run_sse_async", "run_stdio_async"]
    assert served == [server] * len(methods)
