"""The process of ToolBox tools under every fault there is: built servers, real processes, real signals."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from support.artifact import build
from support.needs import needs_node
from support.processes import is_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SCHEMA = 'export const schema = {description: "Do it.", type: "object", properties: {}};\n'
SLEEP = "const sleep = (ms) => new Promise((done) => setTimeout(done, ms));\n"
TOOLS = {
    "pid": "export default () => ({content: [{type: 'text', text: `${process.pid}`}]});",
    "sleeps": SLEEP + "export default async ({params}) => { await sleep(params.arguments.ms); return {content: []}; };",
    "exits": "export default () => process.exit(7);",
    "dies": "export default () => process.kill(process.pid, 'SIGKILL');",
    "rejects": "export default () => { Promise.reject(new Error('lost')); return {content: []}; };",
    "throws_later": "export default () => { setTimeout(() => { throw new Error('late'); }, 1); return {content: []}; };",
    "prints": "export default () => { console.log('{\"jsonrpc\": \"2.0\"}'); process.stdout.write('raw'); return {content: []}; };",
    "big": "export default ({params}) => ({content: [{type: 'text', text: 'x'.repeat(params.arguments.size)}]});",
    "no_json": "export default () => ({content: [{type: 'text', text: 1n}]});",
    "text": "export default () => 'plain';",
    "number": "export default () => 5;",
    "no_block": "export default () => ({content: [{type: 'picture'}]});",
    "throws_text": "export default () => { throw 'only a text'; };",
    "stopped": SLEEP + "let seen = 'nothing';\nexport default async ({params}, {signal}) => {\n"
    "  if (params.arguments?.ask) return {content: [{type: 'text', text: seen}]};\n"
    "  signal.addEventListener('abort', () => { seen = 'aborted'; });\n  await sleep(60000);\n};",
    "circle": "import { callToolHandler } from '../handler/ToolHandler.js';\n"
    "export default ({params}) => callToolHandler({params}, 'circle_1');",
    "holds": "export default () => ({content: []});\nexport async function destroy() { console.log('holds lets go'); }",
    "holds_on": "export default () => ({content: []});\nexport function destroy() { throw new Error('never'); }",
    "places": "import * as config from '../config.js';\nimport { LogService } from '../logService.js';\n"
    "export default async () => {\n  await LogService.logAsync({own: 1});\n"
    "  return {content: [{type: 'text', text: JSON.stringify(config)}]};\n};",
    "variable": "export default ({params}) => ({content: [{type: 'text', text: `${process.env[params.arguments.of]}`}]});",
}


@pytest.fixture(scope="session")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs_node()
    folder = tmp_path_factory.mktemp("node")
    for name, text in TOOLS.items():
        place = folder / f"p/src/tools/{name}.mjs"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SCHEMA + text)
    return build(folder / "p", folder / "s.pyz")


class Client:
    """A conversation in which replies are waited for by their ids."""

    def __init__(self, artifact: Path, folder: Path, **variables: str) -> None:
        self.home = folder / "home"
        self.errors = folder / "errors"
        self._stream = self.errors.open("wb")
        environment = {**os.environ, "MCPC_TOOLBOX_HOME": str(self.home), **variables}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._stream}
        self.process = subprocess.Popen([sys.executable, artifact], env=environment, cwd=folder, **pipes)  # type: ignore[call-overload]
        self._number = 0
        self._replies: dict[int, dict[str, Any]] = {}
        self._arrived: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._arrived.put(json.loads(line))

    def send(self, name: str, *, seconds: float = 0, **arguments: object) -> int:
        self._number += 1
        params: dict[str, object] = {"name": name, "arguments": arguments}
        if seconds:
            params["_meta"] = {"mcpc/timeout": seconds}
        self._write({"id": self._number, "method": "tools/call", "params": params})
        return self._number

    def cancel(self, number: int) -> None:
        self._write({"method": "notifications/cancelled", "params": {"requestId": number}})

    def _write(self, message: dict[str, object]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def reply(self, number: int, patience: float = 20.0) -> dict[str, Any]:
        until = time.monotonic() + patience
        while number not in self._replies:
            message = self._arrived.get(timeout=max(until - time.monotonic(), 0.01))
            self._replies[message["id"]] = message
        return self._replies.pop(number)["result"]

    def call(self, name: str, **arguments: object) -> dict[str, Any]:
        return self.reply(self.send(name, **arguments))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(10)
        for stream in (self.process.stdin, self.process.stdout, self._stream):
            with suppress(BrokenPipeError):
                stream.close()

    def end(self) -> str:
        self.process.stdin.close()
        assert self.process.wait(20) == 0
        self._stream.close()
        return self.errors.read_text()


@pytest.fixture
def begin(artifact: Path, tmp_path: Path) -> Iterator[Callable[..., Client]]:
    begun: list[Client] = []

    def one(**variables: str) -> Client:
        begun.append(Client(artifact, tmp_path, **variables))
        return begun[-1]

    yield one
    for client in begun:
        client.close()


@pytest.fixture
def client(begin: Callable[..., Client]) -> Client:
    return begin()


def text(result: dict[str, Any]) -> str:
    (block,) = result["content"]
    return block["text"]


def failed(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    return text(result)


@pytest.mark.parametrize(("tool", "how"), [("exits", "with status 7"), ("dies", "by signal 9")])
def test_a_tool_that_ends_the_process(client: Client, tool: str, how: str) -> None:
    before = text(client.call("pid"))
    beside = client.send("sleeps", ms=30_000)
    client.call("pid")
    assert how in failed(client.call(tool))
    assert how in failed(client.reply(beside))
    assert text(client.call("pid")) != before  # the next call has a new one


def test_a_call_is_told_that_it_was_cancelled(client: Client) -> None:
    number = client.send("stopped")
    client.call("pid")
    client.cancel(number)
    assert text(client.call("stopped", ask=True)) == "aborted"


@pytest.mark.parametrize(("tool", "word"), [("rejects", "lost"), ("throws_later", "late")])
def test_what_nobody_catches_is_told_and_ends_nothing(client: Client, tool: str, word: str) -> None:
    before = text(client.call("pid"))
    assert client.call(tool)["content"] == []
    client.call("sleeps", ms=50)  # longer than what throws waits
    assert text(client.call("pid")) == before
    assert word in client.end()


def test_what_tools_print_is_no_answer(client: Client) -> None:
    assert client.call("prints")["content"] == []
    errors = client.end()
    assert '{"jsonrpc": "2.0"}' in errors
    assert "raw" in errors


def test_large_results(client: Client) -> None:
    assert len(text(client.call("big", size=8 << 20))) == 8 << 20
    assert "64 MiB is the most" in failed(client.call("big", size=65 << 20))


RESULTS = [
    ("no_json", True, "cannot be written as JSON"),
    ("number", True, "returned no result"),
    ("no_block", True, "returned no result"),
    ("throws_text", True, '"only a text"'),
    ("text", False, "plain"),
]


@pytest.mark.parametrize(("tool", "is_error", "words"), RESULTS)
def test_what_is_no_result(client: Client, tool: str, is_error: bool, words: str) -> None:
    result = client.call(tool)
    assert result.get("isError", False) is is_error
    assert words in text(result)


def test_tools_that_call_each_other_in_a_circle(client: Client) -> None:
    assert "64 deep" in failed(client.call("circle"))


def test_every_tool_is_destroyed_at_the_end(client: Client) -> None:
    pid = int(text(client.call("pid")))
    client.call("holds")
    client.call("holds_on")
    errors = client.end()
    assert errors.count("holds lets go") == 1
    assert "holds_on could not be destroyed: never" in errors
    assert not is_alive(pid)


def test_places_can_be_written_to(client: Client) -> None:
    places = json.loads(text(client.call("places")))
    assert places["logFile"] == str(client.home / "log/ToolBox.log")
    assert places["tasksFilePath"] == str(client.home / "json/scheduled_tasks.json")
    assert places["sqlitePath"] == str(client.home / "data/sqlite")
    assert {path.name for path in client.home.iterdir()} == {"log", "json", "data"}
    assert client.home.stat().st_mode & 0o777 == 0o700
    assert '{"own":1}' in (client.home / "log/ToolBox.log").read_text().splitlines()


def test_tools_find_the_environment_and_a_file_of_it(begin: Callable[..., Client], tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_FILE=yes\nFROM_BOTH=no\n")
    other = begin(FROM_BOTH="yes", ANYTHING="here")
    assert [text(other.call("variable", of=name)) for name in ("FROM_FILE", "FROM_BOTH", "ANYTHING")] == [
        "yes",
        "yes",
        "here",
    ]
    other.end()


def test_without_a_node_that_will_do(artifact: Path, begin: Callable[..., Client], tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "node").write_text("#!/bin/sh\necho v18.20.4\n")
    (programs / "node").chmod(0o755)
    other = begin(PATH=str(programs))
    words = failed(other.call("pid"))
    assert words.startswith("pid requires node")
    assert "20.0" in words
    other.end()
    checked = subprocess.run(
        [sys.executable, artifact, "check"], env={"PATH": str(programs)}, capture_output=True, text=True, check=False
    )
    assert checked.returncode != 0
    assert "node" in checked.stdout + checked.stderr
