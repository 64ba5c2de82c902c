"""The Node process of ToolBox tools, played by the test: lines both ways, liveness, its end, and its folders."""

import json
import os
import stat
from collections.abc import Iterator
from errno import EMFILE
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.systems.toolbox import node_process, runner
from mcpc_runtime.systems.toolbox import runner as runner_module
from mcpc_runtime.systems.toolbox.node_process import RESPONSE_SECONDS, NodeCall
from mcpc_runtime.systems.toolbox.runner import MAX_FAILED_STARTS, RETRY_SECONDS, NodeRunner
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE
from support.fake_runtime import FakeChild, fake_context


class Tools:
    """A runner of tools, and its processes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runner_module, "extracted_folder", lambda image: "/extracted")
        monkeypatch.setattr(runner_module, "data_folder", lambda image: "/dåta")
        monkeypatch.setattr(runner_module, "call_log_file", lambda image: "/log")
        self.context = fake_context()
        self.reactor, self.supervisor = self.context.reactor, self.context.supervisor
        self.runner = NodeRunner(self.context)
        self.done: dict[str, FunctionResult] = {}
        self.notes: list[Any] = []
        self.buffer = b""

    def start(self, name: str, environment: int = 0, **options: Any) -> Any:
        call = NodeCall("tool", name, {"method": "m"}, environment)
        for key, value in options.items():
            setattr(call, key, value)
        return self.runner.start(call, lambda result: self.done.__setitem__(name, result), self.notes.append)

    @property
    def child(self) -> FakeChild:
        child: FakeChild = self.supervisor.children[-1]
        return child

    def lines(self) -> list[Any]:
        """What the newest process was sent."""
        os.set_blocking(self.child.ends[3], False)
        try:
            while data := os.read(self.child.ends[3], 1 << 20):
                self.buffer += data
        except BlockingIOError:
            pass
        *lines, self.buffer = self.buffer.split(b"\n")
        return [json.loads(line) for line in lines]

    def say(self, *messages: Any) -> None:
        os.write(self.child.ends[4], b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        self.reactor.ready_for(READABLE)

    def results(self) -> dict[str, tuple[Any, ...]]:
        return {name: (done.value, done.problem, done.raised) for name, done in self.done.items()}


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tools]:
    before = set(os.listdir("/dev/fd"))
    made = Tools(monkeypatch)
    yield made
    made.runner.close()
    made.runner.close()
    made.supervisor.close()
    assert made.reactor.watched == {}
    assert set(os.listdir("/dev/fd")) == before


def test_a_process_is_started_for_each_environment(tools: Tools) -> None:
    tools.start("one", caller="ai", logged=False)
    child = tools.child
    assert (child.argv, sorted(child.ends)) == (["node", "/extracted/.mcpc/toolbox/host.mjs"], [3, 4])
    mark = f"{os.getpid()}.n1".encode()
    variables = {b"MCPC_TOOLBOX_HOME": "/dåta".encode(), b"MCPC_TOOLBOX_LOG": b"/log", b"MCPC_CALL": mark}
    assert child.environment == {b"N": b"0", **variables}
    usual = {"kind": "tool", "request": {"method": "m"}}
    assert tools.lines() == [{"call": 1, "name": "one", "caller": "ai", "logged": False, **usual}]
    tools.start("two")
    assert tools.lines() == [{"call": 2, "name": "two", "caller": "", "logged": True, **usual}]
    tools.start("three", 1)
    assert (len(tools.supervisor.children), tools.child.environment[b"N"]) == (2, b"1")
    assert tools.child.environment[b"MCPC_CALL"] == f"{os.getpid()}.n2".encode()


def test_a_process_that_cannot_be_started_leaves_nothing(tools: Tools) -> None:
    tools.supervisor.problems.append(OSError(EMFILE, "no room"))
    with pytest.raises(OSError, match="no room"):
        tools.start("one")


def test_each_call_has_one_result(tools: Tools) -> None:
    jobs = [tools.start(name) for name in ("a", "b", "c", "d")]
    tools.say({"begun": 1}, {"call": 1, "note": {"n": 1}}, {"call": 1, "note": 5, "value": {"v": 1}})
    tools.say({"call": 1, "value": "again"}, {"call": "2"}, {"call": 9}, {"call": 2, "error": "e"})
    tools.say({"call": 3, "raised": {"code": 1}}, {"call": 4, "raised": 5})
    assert tools.results() == {
        "a": ({"v": 1}, "", None), "b": (None, "e", None), "c": (None, "", {"code": 1}), "d": (None, "", None)
    }  # fmt: skip
    assert ([job.begun for job in jobs], tools.notes) == ([True, False, False, False], [{"n": 1}])


def test_a_stopped_call_has_neither_notes_nor_a_result(tools: Tools) -> None:
    job = tools.start("a")
    tools.runner.stop(job)
    tools.say({"call": 1, "note": {"n": 1}}, {"call": 1, "value": 1})
    assert (tools.done, tools.notes) == ({}, [])
    assert tools.lines()[1:] == [{"cancel": 1}, {"alive": True}]
    tools.runner.stop(job)
    assert tools.lines() == []
    tools.runner.answer(job, 1, {})
    other = tools.start("b")
    tools.runner.answer(other, 7, {"r": 1})
    assert tools.lines()[1:] == [{"answer": 2, "reply": 7, "result": {"r": 1}}]


def test_a_process_that_does_not_answer_is_ended(tools: Tools) -> None:
    jobs = [tools.start(name) for name in ("a", "b")]
    for job in jobs:
        tools.runner.stop(job)
    tools.reactor.pass_time(RESPONSE_SECONDS / 2)
    tools.say({"alive": True})
    tools.reactor.pass_time(RESPONSE_SECONDS / 2)
    assert tools.supervisor.told == []  # it has answered one, and sent something
    tools.say({"call": 1, "note": {}})
    tools.reactor.pass_time(RESPONSE_SECONDS)
    assert tools.supervisor.told == []
    tools.reactor.pass_time(RESPONSE_SECONDS)
    assert tools.supervisor.told == [("end", tools.child.pid, tools.child.environment[b"MCPC_CALL"].decode())]


def test_a_process_that_answers_lives(tools: Tools) -> None:
    job = tools.start("a")
    tools.runner.stop(job)
    tools.say({"alive": True})
    tools.reactor.pass_time(10)
    assert (tools.supervisor.told, tools.reactor.due) == ([], [])


def test_long_lines_wait_for_room_in_order(tools: Tools) -> None:
    for number in range(5):
        tools.start("x" * 50_000 + str(number))
    (requests,) = tools.reactor.waiting(WRITABLE)
    found = tools.lines()
    while tools.reactor.waiting(WRITABLE):
        tools.reactor.ready_for(WRITABLE)
        found += tools.lines()
    assert ([message["call"] for message in found], requests in tools.reactor.watched) == ([1, 2, 3, 4, 5], False)
    tools.child.close(3)
    tools.start("y" * 100)
    assert tools.reactor.waiting(WRITABLE) == set()


BROKEN: list[bytes] = [b"no JSON\n", b"[]\n", b'{"call":1,"value":1}\nno\n', b"x" * 11]


@pytest.mark.parametrize("data", [*BROKEN, b""])
def test_a_process_that_breaks_the_protocol_is_ended(
    tools: Tools, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_process, "LINE_LIMIT", 10)
    tools.start("a")
    mark = tools.child.environment[b"MCPC_CALL"].decode()
    if data:
        os.write(tools.child.ends[4], data)
    else:
        tools.child.close(4)
    tools.reactor.ready_for(READABLE)
    assert (tools.supervisor.told, tools.reactor.watched) == ([("end", tools.child.pid, mark)], {})


def test_a_line_may_come_in_pieces(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_process, "LINE_LIMIT", 12)
    tools.start("a")
    for piece in (b'{"call":', b"1}", b"\n" + b" " * 12):
        os.write(tools.child.ends[4], piece)
        tools.reactor.ready_for(READABLE)
    assert (tools.results(), tools.supervisor.told) == ({"a": (None, "", None)}, [])
    os.write(tools.child.ends[4], b" ")
    tools.reactor.ready_for(READABLE)
    assert len(tools.supervisor.told) == 1


@pytest.mark.parametrize(("status", "how"), [(0, "with status 0"), (7, "with status 7"), (-9, "by signal 9")])
def test_the_end_of_a_process_fails_what_it_ran_and_moves_the_rest(tools: Tools, status: int, how: str) -> None:
    tools.start("answered")
    tools.start("begun")
    stopped, _ = tools.start("stopped"), tools.start("unbegun")
    tools.say({"ready": True})
    stopped.done = None
    first = tools.child
    os.write(first.ends[4], b'{"call":1,"value":1}\n{"begun":2}\n{"begun":3}\n')
    first.die(status)
    reason = f"the tool process ended {how} before this call was answered"
    assert tools.results() == {"answered": (1, "", None), "begun": (None, reason, None)}
    assert [message["name"] for message in tools.lines()] == ["unbegun"]
    assert tools.supervisor.told == [("end", 0, first.environment[b"MCPC_CALL"].decode())]
    first.ended(status, "")
    assert len(tools.supervisor.children) == 2


def test_a_broken_process_is_not_read_again(tools: Tools) -> None:
    tools.start("a")
    os.write(tools.child.ends[4], b"no\n")
    tools.reactor.ready_for(READABLE)
    os.write(tools.child.ends[4], b'{"call":1,"value":1}\n')
    tools.child.die()
    assert tools.done == {}
    assert [message["name"] for message in tools.lines()][-1:] == ["a"]


def test_a_process_that_never_starts_is_told(tools: Tools) -> None:
    tools.start("a")
    for number in range(1, MAX_FAILED_STARTS):
        tools.child.die(1)
        assert (tools.done, len(tools.supervisor.children)) == ({}, number + 1)
    tools.child.die(1, "no node")
    assert tools.results() == {"a": (None, "the tool process does not start: no node", None)}
    assert len(tools.supervisor.children) == MAX_FAILED_STARTS
    tools.start("b")
    tools.child.die(1)
    assert len(tools.supervisor.children) == MAX_FAILED_STARTS + 2
    tools.say({"ready": 1})
    for _ in range(MAX_FAILED_STARTS):
        tools.child.die(1)
    assert "b" not in tools.done


def test_moved_calls_wait_for_room(tools: Tools) -> None:
    tools.start("a")
    stopped = tools.start("b")
    tools.supervisor.problems += [OSError(EMFILE, "no")] * 2
    tools.child.die(1)
    assert tools.reactor.due == [RETRY_SECONDS]
    tools.reactor.pass_time(RETRY_SECONDS)
    assert tools.reactor.due == [RETRY_SECONDS]
    stopped.done = None
    tools.reactor.pass_time(RETRY_SECONDS)
    assert [message["name"] for message in tools.lines()][-1] == "a"
    tools.supervisor.problems.append(OSError(EMFILE, "no"))
    tools.child.die(1)
    tools.runner.close()
    tools.reactor.pass_time(1)
    assert len(tools.supervisor.children) == 2


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("data_folders", "prepared_logs"):
        monkeypatch.setattr(runner, name, type(getattr(runner, name))())
    monkeypatch.setattr(runner, "TEMPORARY_FOLDERS", [])
    environ: dict[bytes, bytes] = {b"HOME": str(tmp_path).encode()}
    monkeypatch.setattr(runner.system, "environ", environ)
    lines: list[str] = []
    monkeypatch.setattr(runner, "log_line", lines.append)
    image = SimpleNamespace(archive="/a", index={"toolbox": {"name": ".my server/é"}})
    return SimpleNamespace(environ=environ, lines=lines, image=image)


@pytest.mark.parametrize(
    ("environ", "paths"),
    [
        ({"HOME": "/h"}, ["/h/.local/state/mcpc/N"]),
        ({"HOME": "/h", "XDG_STATE_HOME": "/x/"}, ["/x/mcpc/N", "/h/.local/state/mcpc/N"]),
        ({"HOME": "h", "XDG_STATE_HOME": "x"}, []),
        ({"MCPC_TOOLBOX_HOME": "/own", "HOME": "/h"}, ["/own"]),
        ({"MCPC_TOOLBOX_HOME": "own"}, [f"{os.getcwd()}/own"]),
    ],
)
@pytest.mark.parametrize(("server", "name"), [(".my server/é", "my_server__"), ("...", "server"), ("a.B-9_", "a.B-9_")])
def test_the_places_for_a_servers_data(
    folders: Any, environ: dict[str, str], paths: list[str], server: str, name: str
) -> None:
    folders.environ.clear()
    folders.environ.update({key.encode(): value.encode() for key, value in environ.items()})
    expected = tuple(f"{path[:-1]}{name}" if path.endswith("/N") else path for path in paths)
    assert runner.candidate_folders(server) == expected


def test_the_folder_is_made_once_and_private(folders: Any, tmp_path: Path) -> None:
    expected = f"{tmp_path}/.local/state/mcpc/my_server__"
    assert runner.data_folder(folders.image) == expected
    assert stat.S_IMODE(os.stat(expected).st_mode) == 0o700
    os.rmdir(expected)
    assert (runner.data_folder(folders.image), os.path.exists(expected)) == (expected, False)
    folders.image.archive = "/other"
    runner.data_folder(folders.image)
    assert os.path.isdir(expected)


def test_without_a_place_there_is_a_temporary_one(folders: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folders.environ[b"HOME"] = f"{tmp_path}/file".encode()
    folders.environ[b"TMPDIR"] = str(tmp_path).encode()
    made = runner.data_folder(folders.image)
    assert (made.rpartition("-")[0], runner.TEMPORARY_FOLDERS) == (f"{tmp_path}/mcpc-toolbox", [made])
    assert (stat.S_IMODE(os.stat(made).st_mode), len(made.rpartition("-")[2])) == (0o700, 24)


def test_the_log_file_of_calls(folders: Any, tmp_path: Path) -> None:
    home = f"{tmp_path}/.local/state/mcpc/my_server__"
    assert (runner.call_log_file(folders.image), os.path.isdir(f"{home}/log")) == (f"{home}/log/ToolBox.log", True)
    folders.environ[b"NODE_ENV"] = b"test"
    assert runner.call_log_file(folders.image) == f"{home}/test/log/ToolBox.log"
    folders.environ[b"MCPC_TOOLBOX_LOG"] = b"off"
    assert runner.call_log_file(folders.image) == ""
    folders.environ[b"MCPC_TOOLBOX_LOG"] = b"calls.log"
    assert runner.call_log_file(folders.image) == f"{os.getcwd()}/calls.log"
    (tmp_path / "file").write_text("")
    folders.environ[b"MCPC_TOOLBOX_LOG"] = f"{tmp_path}/file/calls.log".encode()
    for _ in range(2):
        assert runner.call_log_file(folders.image) == f"{tmp_path}/file/calls.log"
    assert [line.partition(": ")[0] for line in folders.lines] == ["calls are not logged"]
