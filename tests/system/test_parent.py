"""A server over pipes ends with the process that started it, even if another one keeps its input open; others do not."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.files import write_files
from support.processes import Token, nothing_left, of_process, until
from support.stdio import encoded, initialization

STARTS = "import subprocess, sys, time\nsubprocess.Popen(sys.argv[1:])\ntime.sleep(600)\n"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
NAPS = "tool_nap() { sleep 600; }\nexport -f tool_nap\ntool_hi() { echo hi; }\nexport -f tool_hi\n"
FIRST = {"id": 1, "method": "initialize", "params": initialization()}
DISCOVER = {"id": 1, "method": "server/discover", "params": {"_meta": META}}


def call(number: int, tool: str, **params: object) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}, **params}}


CONVERSATIONS = {
    "before the first message": [],
    "after a list": [FIRST, {"id": 2, "method": "tools/list"}],
    "after a call": [FIRST, call(2, "hi")],
    "stateless, after a list": [DISCOVER],
    "stateless, after a call": [call(1, "hi", _meta=META)],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parent")
    tools = [{"name": name, "description": "x", "inputSchema": {"type": "object"}} for name in ("nap", "hi")]
    described = {"server.json": {"serverInfo": {"name": "s", "version": "1"}}, "tools.json": {"tools": tools}}
    return build(write_files(folder / "project", {**described, "tools.bash": NAPS}), folder / "server.pyz")


class Client:
    """A process that started a server on our pipes; we keep our ends of them when it is killed."""

    def __init__(self, server: Path, token: Token, **variables: str) -> None:
        theirs, self.writing = os.pipe()
        self.reading, output = os.pipe()
        words = [sys.executable, "-c", STARTS, sys.executable, str(server)]
        environment = {**token.environment, **{os.fsencode(key): os.fsencode(text) for key, text in variables.items()}}
        self.process = subprocess.Popen(words, stdin=theirs, stdout=output, env=environment)
        os.close(theirs)
        os.close(output)

    def ask(self, *messages: dict[str, Any]) -> list[Any]:
        """Return the answers to some requests."""
        for message in messages:
            os.write(self.writing, encoded(message))
        data = b""
        while data.count(b"\n") < len(messages):
            piece = os.read(self.reading, 1 << 16)
            assert piece, "the server has gone"
            data += piece
        return [json.loads(line) for line in data.splitlines()]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        os.close(self.writing)
        os.close(self.reading)


@pytest.mark.parametrize("moment", CONVERSATIONS)
def test_it_ends_with_its_parent(moment: str, server: Path) -> None:
    with nothing_left() as token:
        client = Client(server, token)
        if not CONVERSATIONS[moment]:  # a parent that ends before its server reads has left it
            until(lambda: any(map(waits_for_a_process, token.alive())))
        answers = client.ask(*CONVERSATIONS[moment])
        assert all("result" in answer for answer in answers)
        client.kill()
        until(lambda: not token.alive())
        assert os.read(client.reading, 1) == b""
        client.close()


def test_what_a_call_started_ends_too(server: Path) -> None:
    with nothing_left() as token:
        client = Client(server, token)
        client.ask(FIRST)
        os.write(client.writing, encoded(call(2, "nap")))
        until(lambda: any(of_process(pid, "cmdline").startswith(b"sleep") for pid in token.alive()))
        client.kill()
        until(lambda: not token.alive())
        client.close()


def test_it_serves_on_where_a_variable_says_so(server: Path) -> None:
    with nothing_left() as token:
        client = Client(server, token, MCPC_WITHOUT="parent")
        client.ask(FIRST)
        client.kill()
        assert client.ask({"id": 2, "method": "ping"}) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]
        assert client.ask(call(3, "hi"))[0]["result"]["content"][0]["text"] == "hi"
        client.close()
        until(lambda: not token.alive())


def waits_for_a_process(pid: int) -> bool:
    try:
        return any("pidfd" in os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False
