"""The process of ToolBox tools under every fault there is: built servers, real processes, real signals."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.needs import needs_node
from support.processes import is_alive, run_program
from support.stdio import StdioClient, only_text

TOOLS = Path(__file__).parent / "toolbox/tools"


@pytest.fixture(scope="session")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs_node()
    folder = tmp_path_factory.mktemp("node")
    shutil.copytree(TOOLS, folder / "p/src/tools")
    return build(folder / "p", folder / "s.pyz")


class Client(StdioClient):
    """A client that calls tools."""

    def __init__(self, artifact: Path, folder: Path, **variables: str) -> None:
        self.home = folder / "home"
        super().__init__(artifact, environment={"MCPC_TOOLBOX_HOME": str(self.home), **variables}, cwd=folder)

    def start(self, name: str, **arguments: object) -> int:
        return self.begin("tools/call", {"name": name, "arguments": arguments})

    def result(self, number: int) -> dict[str, Any]:
        result: dict[str, Any] = self.reply(number)["result"]
        return result

    def errors(self) -> str:
        """End the conversation, and return what was said on standard error."""
        return self.end()[1].decode()


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


def failed(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    return only_text(result)


@pytest.mark.parametrize(("tool", "how"), [("exits", "with status 7"), ("dies", "by signal 9")])
def test_a_tool_that_ends_the_process(client: Client, tool: str, how: str) -> None:
    before = only_text(client.call_tool("pid"))
    beside = client.start("sleeps", ms=30_000)
    client.call_tool("pid")
    assert how in failed(client.call_tool(tool))
    assert how in failed(client.result(beside))
    assert only_text(client.call_tool("pid")) != before  # the next call has a new one


def test_a_call_is_told_that_it_was_cancelled(client: Client) -> None:
    number = client.start("stopped")
    client.call_tool("pid")
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    assert only_text(client.call_tool("stopped", ask=True)) == "aborted"


@pytest.mark.parametrize(("tool", "word"), [("rejects", "lost"), ("throws_later", "late")])
def test_what_nobody_catches_is_told_and_ends_nothing(client: Client, tool: str, word: str) -> None:
    before = only_text(client.call_tool("pid"))
    assert client.call_tool(tool)["content"] == []
    client.call_tool("sleeps", ms=50)  # longer than what throws waits
    assert only_text(client.call_tool("pid")) == before
    assert word in client.errors()


def test_what_tools_print_is_no_answer(client: Client) -> None:
    assert client.call_tool("prints")["content"] == []
    errors = client.errors()
    assert '{"jsonrpc": "2.0"}' in errors
    assert "raw" in errors


def test_large_results(client: Client) -> None:
    assert len(only_text(client.call_tool("big", size=8 << 20))) == 8 << 20
    assert "64 MiB is the most" in failed(client.call_tool("big", size=65 << 20))


RESULTS = [
    ("no_json", True, "cannot be written as JSON"),
    ("number", True, "returned no result"),
    ("no_block", True, "returned no result"),
    ("throws_text", True, '"only a text"'),
    ("text", False, "plain"),
]


@pytest.mark.parametrize(("tool", "is_error", "words"), RESULTS)
def test_what_is_no_result(client: Client, tool: str, is_error: bool, words: str) -> None:
    result = client.call_tool(tool)
    assert result.get("isError", False) is is_error
    assert words in only_text(result)


def test_tools_that_call_each_other_in_a_circle(client: Client) -> None:
    assert "64 deep" in failed(client.call_tool("circle"))


def test_every_tool_is_destroyed_at_the_end(client: Client) -> None:
    pid = int(only_text(client.call_tool("pid")))
    client.call_tool("holds")
    client.call_tool("holds_on")
    errors = client.errors()
    assert errors.count("holds lets go") == 1
    assert "holds_on could not be destroyed: never" in errors
    assert not is_alive(pid)


def test_places_can_be_written_to(client: Client) -> None:
    places = json.loads(only_text(client.call_tool("places")))
    assert places["logFile"] == str(client.home / "log/ToolBox.log")
    assert places["tasksFilePath"] == str(client.home / "json/scheduled_tasks.json")
    assert places["sqlitePath"] == str(client.home / "data/sqlite")
    assert {path.name for path in client.home.iterdir()} == {"log", "json", "data"}
    assert client.home.stat().st_mode & 0o777 == 0o700
    assert '{"own":1}' in (client.home / "log/ToolBox.log").read_text().splitlines()


def test_tools_find_the_environment_and_a_file_of_it(begin: Callable[..., Client], tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_FILE=yes\nFROM_BOTH=no\n")
    other = begin(FROM_BOTH="yes", ANYTHING="here")
    assert [only_text(other.call_tool("variable", of=name)) for name in ("FROM_FILE", "FROM_BOTH", "ANYTHING")] == [
        "yes",
        "yes",
        "here",
    ]
    other.errors()


def test_without_a_node_that_will_do(artifact: Path, begin: Callable[..., Client], tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "node").write_text("#!/bin/sh\necho v18.20.4\n")
    (programs / "node").chmod(0o755)
    other = begin(PATH=str(programs))
    words = failed(other.call_tool("pid"))
    assert words.startswith("pid requires node")
    assert "20.0" in words
    other.errors()
    checked = run_program([sys.executable, artifact, "check"], env={"PATH": str(programs)})
    assert checked.returncode != 0
    assert "node" in checked.stdout + checked.stderr
