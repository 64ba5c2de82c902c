"""`mcpc dev`: one conversation across builds that take each other's place, and what may go wrong on the way."""

import json
import os
import re
import shutil
import signal
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from support.artifact import SOURCES, mcpc, with_bytecode
from support.needs import needs
from support.pipe_client import Message, PipeClient, text_of
from support.ports import reserved_port
from support.processes import is_alive, of_process
from support.slack import slack
from support.talking import META

SERVER = '{"serverInfo": {"name": "dev", "version": "1"}, "capabilities": {"tools": {}, "logging": {}}}'
PYTHON = '''
import os
import time

from mcpc import tool


@tool
def says() -> str:
    """Say the word of this build."""
    return "WORD"


@tool
def echo(text: str) -> str:
    """Give the text back."""
    return text


@tool
def slow(seconds: float, mark: str) -> str:
    """Take its time."""
    with open(mark, "w") as file:
        file.write("began")
    time.sleep(seconds)
    return "WORD"


@tool
def parent() -> int:
    """Tell the process that started the one that this runs in."""
    return int(open(f"/proc/{os.getppid()}/stat").read().split()[3])
'''
PATIENCE = 60.0


def patience() -> float:
    """Return how many seconds anything may take: more on a machine that does much else."""
    return PATIENCE * slack()


class Talk(PipeClient):
    """One `mcpc dev` and its client."""

    def __init__(self, project: Path, *options: str) -> None:
        words = [sys.executable, "-m", "mcpc", "dev", str(project), *options]
        super().__init__(words, environment(project))
        self.heard: Counter[str] = Counter()

    def reply(self, number: int, seconds: float = PATIENCE) -> Message:
        return super().reply(number, seconds)

    def told(self, method: str) -> Message:
        """Return the next notification of a method."""
        self.heard[method] += 1
        notices: list[Message] = self.until(lambda: self.notices(method)[self.heard[method] - 1 :], PATIENCE)
        assert notices, (method, self.messages, self.errors)
        return notices[0]

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.ask("tools/list")["result"]["tools"]]

    def wait_for(self, text: str) -> None:
        assert self.said(text.encode(), PATIENCE), self.errors

    def end(self) -> int:
        self.close_input()
        return self.ends(PATIENCE)


@contextmanager
def dev(project: Path, *options: str) -> Iterator[Talk]:
    """Run `mcpc dev` until the block ends; whatever it started has to be gone then."""
    temporary = project.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    with Talk(project, *options) as talk:
        try:
            yield talk
            if talk.process.poll() is None:
                talk.end()
            assert left(project) == []
            assert [path for path in temporary.iterdir() if path.name.startswith("mcpc-dev-")] == []
        finally:
            talk.process.kill()
            talk.process.wait()
            for pid in running_below(project):  # of a test that has failed: it may hold the pipes
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def environment(project: Path) -> dict[str, str]:
    own = {"PYTHONPATH": SOURCES, "MCPC_CACHE_DIR": str(with_bytecode(project.parent / "cache"))}
    return {**os.environ, **own, "TMPDIR": str(project.parent / "temporary")}


def left(project: Path) -> list[str]:
    """Return the commands of what still runs below a project's folder, after some time for it to end."""
    until = time.monotonic() + patience()
    while (found := running_below(project)) and time.monotonic() < until:
        time.sleep(0.05)
    return [*found.values()]


def running_below(project: Path) -> dict[int, str]:
    """Return the processes whose command names something beside a project, as what `mcpc dev` starts does."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    lines = {pid: of_process(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace") for pid in pids}
    return {pid: line for pid, line in lines.items() if str(project.parent) in line}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("needs /proc")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "server.json").write_text(SERVER)
    write(folder, "one")
    return folder


def write(folder: Path, word: str, more: str = "") -> None:
    """Write the Python tools whole, as editors do: to another name, and then in place of what was there."""
    (folder / "tools.py~").write_text(PYTHON.replace("WORD", word) + more)
    (folder / "tools.py~").replace(folder / "tools.py")


def changed_to(talk: Talk, word: str) -> None:
    """Wait until a build is served; nobody is told if no list has changed."""
    until = time.monotonic() + patience()
    while talk.text("says") != word:
        assert time.monotonic() < until, talk.errors.decode()
        time.sleep(0.05)


MORE = '''

@tool
def added() -> str:
    """Be new."""
    return "new"
'''


def test_what_is_saved_is_served_in_the_same_conversation(project: Path) -> None:
    with dev(project) as talk:
        assert talk.greet()["capabilities"]["tools"] == {"listChanged": True}
        assert talk.text("says") == "one"
        assert talk.tools() == ["says", "echo", "slow", "parent", "mcpc_reload"]
        write(project, "two", MORE)
        talk.told("notifications/tools/list_changed")
        assert talk.text("says") == "two"
        assert talk.tools() == ["says", "echo", "slow", "parent", "added", "mcpc_reload"]
        assert talk.text("added") == "new"
        write(project, "three", MORE)  # the lists are the same, and nobody is told of them
        changed_to(talk, "three")
        assert [one["method"] for one in talk.messages if "method" in one] == ["notifications/tools/list_changed"]
        assert talk.end() == 0


def test_an_edit_that_cannot_be_built_changes_nothing_and_is_told(project: Path) -> None:
    with dev(project) as talk:
        talk.greet()
        talk.ask("logging/setLevel", {"level": "warning"})
        (project / "tools.py").write_text(PYTHON + "def broken(:\n")
        said = talk.told("notifications/message")["params"]
        assert (said["level"], said["logger"]) == ("error", "mcpc dev")
        assert "MCP205" in said["data"]
        talk.wait_for("MCP205")
        assert talk.text("says") == "one"
        refused = talk.call("mcpc_reload")
        assert refused["isError"] is True
        told = text_of(refused)
        assert told.startswith("the build failed; the last successful build keeps serving\n\nerror[MCP205]: ")
        assert "tools.py:" in told
        write(project, "two")
        changed_to(talk, "two")
        talk.told("notifications/message")  # of the build that the tool asked for
        (project / "tools.py").write_text(PYTHON + "def broken(:\n")
        assert "MCP205" in talk.told("notifications/message")["params"]["data"], "the level holds across builds"


CALL = r"(?m)^\d\d:\d\d:\d\d {} {} \d+ ms$"


def test_a_server_that_is_killed_is_started_again_by_the_next_request(project: Path) -> None:
    with dev(project) as talk:
        talk.greet()
        mark = project.parent / "began"
        slow = talk.begin_call("slow", seconds=50, mark=str(mark))
        while not mark.exists():
            time.sleep(0.01)
        os.kill(int(talk.text("parent")), signal.SIGKILL)
        lost = talk.reply(slow)["error"]
        assert lost["code"] == -32603
        assert "status -9" in lost["message"]
        assert talk.text("says") == "one"
        talk.wait_for("starts it again")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_it_ends_the_server(project: Path, number: signal.Signals) -> None:
    with dev(project) as talk:
        talk.greet()
        mark = project.parent / "began"
        talk.begin_call("slow", seconds=50, mark=str(mark))
        while not mark.exists():
            time.sleep(0.01)
        server = int(talk.text("parent"))
        talk.process.send_signal(number)
        talk.ends(PATIENCE)
        until = time.monotonic() + patience()
        while is_alive(server):  # whoever adopts it may be slow to notice that it has ended
            assert time.monotonic() < until
            time.sleep(0.02)
        for folder in (project.parent / "temporary").glob("mcpc-dev-*"):
            assert number == signal.SIGKILL
            shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("content", "words"), [("def broken(:\n", "MCP205"), (None, "MCP303")], ids=["broken", "nothing"]
)
def test_without_a_first_build_there_is_nothing_to_serve(project: Path, content: str | None, words: str) -> None:
    (project / "tools.py").unlink() if content is None else (project / "tools.py").write_text(content)
    done = mcpc("dev", project)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr


@pytest.mark.slow
def test_over_http_each_build_has_the_same_port(project: Path) -> None:
    port = reserved_port()
    with dev(project, "--http", str(port)) as talk:
        over_http(port, "one")
        (project / "tools.py").write_text("def broken(:\n")
        talk.wait_for("MCP205")
        over_http(port, "one")
        write(project, "two")
        over_http(port, "two")
        talk.wait_for("s: all problems fixed; handlers changed\n")
        until = time.monotonic() + patience()
        while len(re.findall(CALL.format("says", "ok"), talk.errors.decode())) < 3:
            assert time.monotonic() < until, talk.errors.decode()
            time.sleep(0.02)
        talk.process.terminate()
        assert talk.ends(PATIENCE) == 128 + signal.SIGTERM


def over_http(port: int, word: str) -> None:
    """Call until the answer is a word: while a server takes the place of another, nobody listens."""
    params = {"name": "says", "arguments": {}, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "says",
    }
    until = time.monotonic() + patience()
    while True:
        try:
            request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, headers)
            with urllib.request.urlopen(request, timeout=10) as answer:
                if json.load(answer)["result"]["content"][0]["text"] == word:
                    return
        except (OSError, HTTPException, ValueError, KeyError):  # a server that goes ends its answers anywhere
            pass
        assert time.monotonic() < until
        time.sleep(0.05)


TOOLBOX = """
import fs from 'node:fs';

export const schema = {name: 'word', description: 'd', type: 'object', properties: {}, required: []};
export default async function() { return {content: [{type: 'text', text: 'WORD'}]}; }
export async function destroy() { fs.appendFileSync(process.env.DESTROYED, 'WORD\\n'); }
"""


@pytest.mark.slow
def test_tools_of_toolbox_are_let_go_once_and_reload_by_their_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("node", "npm")
    project, destroyed = tmp_path / "project", tmp_path / "destroyed"
    monkeypatch.setenv("DESTROYED", str(destroyed))
    monkeypatch.setenv("MCPC_TOOLBOX_HOME", str(tmp_path / "home"))
    (project / "src/tools").mkdir(parents=True)
    (project / "package.json").write_text('{"name": "box", "version": "1.0.0", "type": "module"}')
    (project / "src/tools/word.js").write_text(TOOLBOX.replace("WORD", "one"))
    with dev(project) as talk:
        talk.greet()
        assert sorted(talk.tools()) == ["buildReload_tool", "mcpc_reload", "word"]
        assert talk.text("word") == "one"
        (project / "src/tools/word.js").write_text(TOOLBOX.replace("WORD", "two"))
        told = json.loads(text_of(talk.call("buildReload_tool")))
        assert told["build"]["success"] is True
        assert told["build"]["directory"] == str(project)
        assert told["reload"] == {"success": True, "tools": 1}
        assert talk.text("word") == "two"
        assert destroyed.read_text() == "one\n"
        (project / "src/tools/word.js").write_text("export const schema = {")
        refused = json.loads(text_of(talk.call("buildReload_tool")))
        assert refused["error"] == "BuildReload_FAILED"
        assert talk.text("word") == "two"
