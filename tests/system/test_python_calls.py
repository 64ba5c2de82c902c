"""Python handlers in a built server, over its standard streams: what they say, what stops them, what they survive."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.artifact import build
from support.processes import until
from support.stdio import StdioClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SERVER = """
import asyncio, os, signal, sys, threading, time
from mcpc import Cancelled, Context, Server, ToolError, tool

mcp = Server("calls", timeout=20, environment=["APP_*"])
seen = []

@tool
def echo(text: str) -> str:
    return text

@tool
async def later(text: str, seconds: float, ctx: Context) -> str:
    await ctx.info("waiting", logger="mine")
    await asyncio.sleep(seconds)
    return text

@tool(timeout=600)
async def held(text: str, gate: str) -> str:
    while not os.path.exists(gate): await asyncio.sleep(0.2)
    return text

@tool
def tell(ctx: Context) -> str:
    for step in range(3):
        ctx.report_progress(step, 3, f"step {step}")
        ctx.info(f"at {step}")
        time.sleep(0.1)
    threading.Thread(target=lambda: (time.sleep(0.1), ctx.info("too late"), seen.append("told"))).start()
    return ctx.tool

@tool
def wait(ctx: Context) -> None:
    try:
        seen.append("begun")
        while True:
            time.sleep(0.01)
    except Cancelled:
        seen.append("cancelled")
        raise

@tool
def remembered() -> list[str]:
    return seen

@tool(timeout=1)
def late() -> str:
    time.sleep(60)
    return "never"

@tool
def refuse() -> str:
    raise ToolError("Not on a Sunday.")

@tool
def ask(other: str, ctx: Context) -> str:
    return ctx.call_tool(other, {"text": "asked"})["content"][0]["text"]

@tool
async def ask_later(other: str, ctx: Context) -> str:
    result = await ctx.call_tool(other, {"text": "asked"})
    return result["content"][0]["text"]

@tool
def variables() -> list[str]:
    return sorted(os.environ)

@tool
def process() -> int:
    return os.getpid()

@tool
def noisy() -> str:
    print("printed"); os.write(1, b"written\\n"); os.system("echo shouted")
    return sys.stdin.read()

@tool
def die(how: str) -> str:
    if how == "exit": sys.exit(3)
    if how == "interrupt": os.kill(os.getpid(), signal.SIGINT); time.sleep(0.2)
    if how == "recursion": return die_again(0)
    if how == "leave": os._exit(3)
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "fork" and os.fork() == 0: return "child"
    return "alive"

def die_again(n): return die_again(n + 1) + "x"
"""


class Client(StdioClient):
    """A client that calls tools in a session."""

    def __init__(self, path: Path, **more: str) -> None:
        super().__init__(path, environment=more)
        self.initialize()

    def start(self, name: str, *, token: str = "", **arguments: Any) -> int:
        meta = {"_meta": {"progressToken": token}} if token else {}
        return self.begin("tools/call", {"name": name, "arguments": arguments, **meta})

    def call(self, name: str, **arguments: Any) -> Any:
        """Return what a call says: its text, or the error's."""
        result = self.reply(self.start(name, **arguments))["result"]
        return result["content"][0]["text"] if result["content"] else None


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calls")
    (folder / "project").mkdir()
    (folder / "project/server.py").write_text(SERVER)
    return build(folder / "project", folder / "server.pyz")


@pytest.fixture(params=["", "memfd,seqpacket"])
def client(artifact: Path, request: pytest.FixtureRequest) -> Iterator[Client]:
    made = Client(artifact, APP_KEY="k", A_SECRET="s", **({"MCPC_WITHOUT": request.param} if request.param else {}))
    yield made
    made.end()


def test_notes_come_while_the_handler_runs_and_never_after_its_answer(client: Client) -> None:
    client.ask("logging/setLevel", {"level": "info"})
    begun = len(client.said)
    number = client.start("tell", token="t")
    client.reply(number)
    kinds = [line.get("method", "answer").rpartition("/")[2] for line in client.said[begun:]]
    assert kinds[-1] == "answer"
    progress = [line["params"]["message"] for line in client.said if line.get("method") == "notifications/progress"]
    assert (progress[0], progress[-1]) == ("step 0", "step 2")  # what comes close together is sent once
    said = [line["params"]["data"] for line in client.said if line.get("method") == "notifications/message"]
    assert said == ["at 0", "at 1", "at 2"]
    until(lambda: client.call("remembered") == '["told"]')
    assert "too late" not in json.dumps(client.said)


def test_a_cancelled_call_is_told_and_its_worker_stays(client: Client) -> None:
    first = client.call("process")
    number = client.start("wait")
    until(lambda: json.loads(client.call("remembered")) == ["begun"])
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    until(lambda: json.loads(client.call("remembered")) == ["begun", "cancelled"])
    assert client.call("process") == first
    assert all(line.get("id") != number for line in client.said)


@pytest.mark.sampled(2)
def test_a_call_over_its_time_is_answered_and_loses_its_worker(client: Client) -> None:
    first = client.call("process")
    beside = client.start("later", text="beside", seconds=5)
    assert "1 s" in client.call("late")
    until(lambda: client.call("process") != first)
    assert client.reply(beside)["result"]["content"][0]["text"] == "beside"


@pytest.mark.slow
def test_200_waiting_calls_hold_up_nobody(client: Client, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    numbers = [client.start("held", text=str(index), gate=str(gate)) for index in range(200)]
    assert client.call("echo", text="quick") == "quick"
    gate.touch()
    for index, number in enumerate(numbers):
        assert client.reply(number)["result"]["content"][0]["text"] == str(index)


ENDS = [
    ("exit", "SystemExit: 3"),
    ("interrupt", "KeyboardInterrupt"),
    ("recursion", "RecursionError: maximum recursion depth exceeded"),
    ("leave", "the handler's process exited with status 3"),
    ("kill", "the handler's process was killed by signal 9"),
    ("fork", "alive"),
]


@pytest.mark.parametrize(("how", "said"), ENDS)
def test_a_handlers_end_is_its_own_answer(client: Client, how: str, said: str) -> None:
    assert client.call("die", how=how).startswith(said)
    assert client.call("echo", text="still here") == "still here"


def test_what_handlers_find_and_say(client: Client) -> None:
    assert client.call("refuse") == "Not on a Sunday."
    found = json.loads(client.call("variables"))
    assert "APP_KEY" in found
    assert "A_SECRET" not in found
    assert client.call("noisy") == ""


@pytest.mark.parametrize("asking", ["ask", "ask_later"])
def test_a_tool_calls_a_tool(client: Client, asking: str) -> None:
    assert client.call(asking, other="echo") == "asked"
    assert client.call(asking, other="refuse") != "asked"
    assert client.call(asking, other="none of these") != "asked"
