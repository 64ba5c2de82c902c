"""A server over pipes ends with the process that started it, even if another one keeps its input open; others do not."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.artifact import build
from support.files import write_files
from support.processes import Token, nothing_left, of_process, until
from support.stdio import StdioClient, initialization

STARTS = "import subprocess, sys, time\nsubprocess.Popen(sys.argv[1:])\ntime.sleep(600)\n"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
NAPS = "tool_nap() { sleep 600; }\nexport -f tool_nap\ntool_hi() { echo hi; }\nexport -f tool_hi\n"
FIRST = ("initialize", initialization())


def calling(tool: str, **params: object) -> tuple[str, object]:
    return "tools/call", {"name": tool, "arguments": {}, **params}


CONVERSATIONS: dict[str, list[tuple[str, object]]] = {
    "before the first message": [],
    "after a list": [FIRST, ("tools/list", None)],
    "after a call": [FIRST, calling("hi")],
    "stateless, after a list": [("server/discover", {"_meta": META})],
    "stateless, after a call": [calling("hi", _meta=META)],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parent")
    tools = [{"name": name, "description": "x", "inputSchema": {"type": "object"}} for name in ("nap", "hi")]
    described = {"server.json": {"serverInfo": {"name": "s", "version": "1"}}, "tools.json": {"tools": tools}}
    return build(write_files(folder / "project", {**described, "tools.bash": NAPS}), folder / "server.pyz")


@contextmanager
def started(server: Path, **variables: str) -> Iterator[tuple[StdioClient, Token]]:
    """Have a process start the server on our pipes, whose ends we keep when it is killed."""
    with nothing_left() as token:
        words = ("-c", STARTS, sys.executable, str(server))
        with StdioClient(*words, variables=token.environment, environment=variables, stderr=None) as client:  # type: ignore[arg-type]
            yield client, token
        until(lambda: not token.alive())


def kill(client: StdioClient) -> None:
    client.process.kill()
    client.process.wait()


@pytest.mark.parametrize("moment", CONVERSATIONS)
def test_it_ends_with_its_parent(moment: str, server: Path) -> None:
    with started(server) as (client, token):
        if not CONVERSATIONS[moment]:  # a parent that ends before its server reads has left it
            until(lambda: any(map(waits_for_a_process, token.alive())))
        assert all("result" in client.ask(*request) for request in CONVERSATIONS[moment])
        kill(client)
        until(lambda: not token.alive())
        assert client.process.stdout.read(1) == b""


def test_what_a_call_started_ends_too(server: Path) -> None:
    with started(server) as (client, token):
        client.ask(*FIRST)
        client.begin(*calling("nap"))
        until(lambda: any(of_process(pid, "cmdline").startswith(b"sleep") for pid in token.alive()))
        kill(client)
        until(lambda: not token.alive())


def test_it_serves_on_where_a_variable_says_so(server: Path) -> None:
    with started(server, MCPC_WITHOUT="parent") as (client, _):
        client.ask(*FIRST)
        kill(client)
        assert client.ask("ping") == {"jsonrpc": "2.0", "id": 2, "result": {}}
        assert client.ask(*calling("hi"))["result"]["content"][0]["text"] == "hi"


def waits_for_a_process(pid: int) -> bool:
    try:
        return any("pidfd" in os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False
