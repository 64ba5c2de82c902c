"""A server's file that is written to while it runs: what is served comes from what was opened, or is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest

from artifact import build
from serving import served
from talking import META, VERSION, call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = "the server's file was changed while it ran; restart it"
TOOLS = '''
from mcpc import tool


@tool
def echo(text: str) -> str:
    """Give the text back."""
    return text


@tool
def later(text: str) -> str:
    """Give the text back, by a module that is imported late."""
    import helper

    return helper.same(text)
'''
LIST = {"method": "tools/list", "params": {"_meta": META}}


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("replaced")
    made = []
    for name, comment in (("first", ""), ("second", "# " + "another " * 500 + "\n")):
        (folder / name).mkdir()
        (folder / name / "server.json").write_text(json.dumps({"serverInfo": {"name": "same", "version": "1"}}))
        (folder / name / "tools.py").write_text(comment + TOOLS.replace("echo", "echo" if name == "first" else "other"))
        (folder / name / "helper.py").write_text(f"def same(text):\n    return {name!r} + text\n")
        made.append(build(folder / name, folder / f"{name}.pyz", "--http"))
    return made[0], made[1]


@pytest.fixture(params=["copied", "truncated"])
def change(request: pytest.FixtureRequest, artifacts: tuple[Path, Path], tmp_path: Path) -> tuple[Path, bytes]:
    """A server's file of this test's alone, and what is written into it."""
    file = tmp_path / "server.pyz"
    file.write_bytes(artifacts[0].read_bytes())
    return file, artifacts[1].read_bytes() if request.param == "copied" else b""


def overwrite(change: tuple[Path, bytes]) -> None:
    with change[0].open("r+b") as file:
        file.truncate(0)
        file.write(change[1])


class Pipes:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def ask(self, message: dict[str, Any], number: int = 1) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **message}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@contextmanager
def running(file: Path) -> Iterator[Pipes]:
    process = subprocess.Popen([sys.executable, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    guard = Timer(60, process.kill)
    guard.start()
    try:
        yield Pipes(process)
    finally:
        guard.cancel()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


def calling(name: str) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": {"text": "x"}, "_meta": META}}


def is_refused(answer: dict[str, Any]) -> bool:
    if "error" in answer:
        return bool(answer["error"]["code"] == -32603 and WORDS in answer["error"]["message"])
    result = answer["result"]
    return bool(result.get("isError") and WORDS in result["content"][0]["text"])


def test_pipes_refuse_what_is_not_known_yet(change: tuple[Path, bytes]) -> None:
    with running(change[0]) as server:
        assert len(server.ask(LIST)["result"]["tools"]) == 2
        assert server.ask(calling("echo"))["result"]["content"][0]["text"] == "x"
        overwrite(change)
        assert is_refused(server.ask(LIST))
        assert is_refused(server.ask(calling("later"))), "a module imported late would be another file's"
        assert server.ask(calling("echo"))["result"]["content"][0]["text"] == "x"
        assert server.ask({"method": "ping", "params": {"_meta": META}})


def test_a_first_call_is_refused(change: tuple[Path, bytes]) -> None:
    with running(change[0]) as server:
        server.ask(LIST)
        overwrite(change)
        assert is_refused(server.ask(calling("echo")))
        assert is_refused(server.ask(LIST))


def test_a_file_that_takes_the_name_changes_nothing(artifacts: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "server.pyz"
    file.write_bytes(artifacts[0].read_bytes())
    with running(file) as server:
        server.ask(LIST)
        (tmp_path / "new").write_bytes(artifacts[1].read_bytes())
        (tmp_path / "new").rename(file)
        assert len(server.ask(LIST)["result"]["tools"]) == 2
        assert server.ask(calling("later"))["result"]["content"][0]["text"] == "firstx"


def posted(url: str, body: bytes, method: str, name: str = "") -> dict[str, Any]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
        **({"Mcp-Name": name} if name else {}),
    }
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=20) as answer:
        text = answer.read().decode()
    found: dict[str, Any] = json.loads(text.partition("data: ")[2].partition("\n")[0] if "data: " in text else text)
    return found


@pytest.mark.parametrize("begun", [False, True])
def test_http_refuses_and_is_not_ready(change: tuple[Path, bytes], begun: bool) -> None:
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, **LIST}).encode()
    with served(change[0]) as server:
        if begun:
            assert "result" in posted(server.url, call("echo", text="x"), "tools/call", "echo")
        overwrite(change)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{server.root}/readyz", timeout=20)
        with refused.value as answer:
            assert (answer.code, answer.read().decode().strip()) == (503, WORDS)
        assert is_refused(posted(server.url, listing, "tools/list"))
        assert is_refused(posted(server.url, call("later", text="x"), "tools/call", "later"))
        if begun:
            found = posted(server.url, call("echo", text="x"), "tools/call", "echo")
            assert found["result"]["content"][0]["text"] == "x"
