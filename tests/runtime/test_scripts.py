"""Scripts in children of a fork server: what they write, and how they end, is what a process of their own would do."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from mcpc.languages.bash.forkable import is_forkable
from mcpc.reading import Source
from mcpc_runtime.handlers.bash.fork_server import ForkServer
from mcpc_runtime.handlers.bash.runner import ShellRunner
from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.systems.mcp_bash import processes
from mcpc_runtime.transports.platforms.pipes import close
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.needs import ROOT, needs
from support.processes import run_program, turn_until

SDK = ROOT / "templates/mcp_bash/sdk"
READS_SDK = 'source "$MCP_SDK/tool-sdk.sh"\n'

DATA = yaml.safe_load(Path(__file__).with_name("scripts.yaml").read_text("utf-8"))
SAME = DATA["SAME"]
SAME_IN_A_FRESH_SHELL = (
    *("SDK: no argument", "ended by force", "environment", "place", "name", "status", "prints", "reads nothing"),
)


class Scripts:
    """A runner of scripts in a folder, and what it takes to wait for it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        base = {"PATH": os.environ["PATH"], "HOME": str(home), "MCP_SDK": str(SDK), "LANG": "C"}
        self.base = {name.encode(): value.encode() for name, value in base.items()}
        self.more = {b"MCP_TOOL_ARGS_JSON": b'{"list":[1,2],"name":"W\xc3\xb6rld"}', b"MCP_TOOL_NAME": b"a 'name'"}
        self.reactor = Reactor()
        self.host = RunnerContext(self.reactor, SimpleNamespace(hooks=lambda name: (), index={"environment": ()}))  # type: ignore[arg-type]
        self.runner = ShellRunner(self.host, processes.ScriptLibraries(str(SDK), lambda number: self.base))

    def write(self, text: str, name: str = "tool.sh", head: str = "#!/usr/bin/env bash\n") -> Path:
        place = self.home / name
        place.write_text(head + text)
        place.chmod(0o755)
        return place

    def begin(self, place: Path, done: list[ProcessResult]) -> object:
        call = processes.script_call(str(place), self.more, str(self.home), 0)
        return self.runner.start(call, done.append, lambda note: None)

    def turn_until(self, is_so, seconds: float = 60.0) -> None:
        turn_until(self.reactor, is_so, seconds)

    def run(self, place: Path) -> ProcessResult:
        done: list[ProcessResult] = []
        self.begin(place, done)
        self.turn_until(lambda: done)
        return done[0]

    def own(self, place: Path) -> tuple[int, bytes, bytes]:
        argv = [str(place)] if place.stat().st_mode & 0o100 else ["bash", str(place)]
        ran = run_program(argv, env={**self.base, **self.more}, cwd=self.home, stdin=subprocess.DEVNULL, text=False)
        return ran.returncode if ran.returncode >= 0 else 128 - ran.returncode, ran.stdout, ran.stderr

    def close(self) -> None:
        self.runner.close()
        self.host.close()
        for descriptor in (self.host.errors, self.host._read_end):
            self.reactor.forget(descriptor)
            close(descriptor)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scripts]:
    needs("bash")
    made = Scripts(tmp_path_factory.mktemp("project"))
    yield made
    made.close()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_a_child_does_what_a_process_does(runner: Scripts, text: str):
    place = runner.write(text)
    assert is_forkable(Source("tools/tool.sh", place.read_bytes())) == ("PPID" not in text and "if then" not in text)
    completed = runner.run(place)
    assert (completed.status, completed.printed, completed.errors) == runner.own(place)
    assert completed.problem == ""
    (server,) = runner.runner._servers.values()
    assert server.is_ready


def test_a_fresh_shell_does_it_too(runner: Scripts):
    for name, text in SAME.items():
        if name in SAME_IN_A_FRESH_SHELL:
            place = runner.write(text)
            call = processes.script_call(str(place), runner.more, str(runner.home), 0)
            call.isolated = True
            done: list[ProcessResult] = []
            runner.runner.start(call, done.append, lambda note: None)
            runner.turn_until(lambda done=done: done)
            status = done[0].status if done[0].status >= 0 else 128 - done[0].status
            assert (status, done[0].printed, done[0].errors) == runner.own(place), name


def test_a_file_that_may_not_be_executed(runner: Scripts):
    place = runner.write("echo plain; exit 3", head="")
    place.chmod(0o644)
    completed = runner.run(place)
    assert (completed.status, completed.printed, completed.errors) == runner.own(place) == (3, b"plain\n", b"")


def test_another_bash_than_ours_runs_what_names_it(runner: Scripts):
    other = runner.home / "bash"
    other.write_text('#!/bin/sh\necho "another: $1"\n')
    other.chmod(0o755)
    place = runner.write("echo ours", head=f"#!{other}\n")
    assert runner.run(place).printed == f"another: {place}\n".encode()


def test_a_script_that_has_gone(runner: Scripts):
    completed = runner.run(runner.home / "nowhere.sh")
    assert completed.status == 127
    assert b"nowhere.sh" in completed.errors


def test_calls_do_not_see_each_other(runner: Scripts):
    first = runner.write("export LEFT=1; left() { :; }; cd /; umask 000; set -x 2>/dev/null; exit 0", "first.sh")
    second = runner.write('echo "${LEFT-none} $PWD $(umask)"; type left 2>&1', "second.sh")
    runner.run(first)
    completed = runner.run(second)
    assert (completed.status, completed.printed, completed.errors) == runner.own(second)


def test_many_at_once(runner: Scripts):
    places = [
        runner.write(f"sleep 0.0{number % 5}; echo {number}; exit {number}", f"{number}.sh") for number in range(40)
    ]
    ended: list[list[ProcessResult]] = [[] for _ in places]
    for place, done in zip(places, ended, strict=True):
        runner.begin(place, done)
    runner.turn_until(lambda: all(ended))
    assert [(done[0].status, done[0].printed) for done in ended] == [(n, f"{n}\n".encode()) for n in range(40)]


def test_a_call_that_is_stopped_takes_its_children_along(runner: Scripts):
    place = runner.write(
        f"trap 'echo ended >{runner.home}/trapped; exit 1' TERM; sleep 600 & echo $! >{runner.home}/pid; wait"
    )
    job = runner.begin(place, [])
    runner.turn_until(lambda: (runner.home / "pid").exists() and (runner.home / "pid").read_text())
    runner.runner.stop(job)
    pid = int((runner.home / "pid").read_text())
    runner.turn_until(lambda: not os.path.exists(f"/proc/{pid}") and (runner.home / "trapped").exists())


def test_a_script_that_is_stopped_has_time_to_tidy_up(runner: Scripts):
    place = runner.write(
        "trap 'sleep 0.4; echo tidy >tidied; exit 1' TERM; echo >ready; while true; do sleep 0.05; done"
    )
    job = runner.begin(place, [])
    runner.turn_until((runner.home / "ready").exists)
    runner.runner.stop(job)
    runner.turn_until(lambda: (runner.home / "tidied").exists() and (runner.home / "tidied").read_text())


def test_a_lost_fork_server_is_replaced(runner: Scripts):
    place = runner.write("echo again")
    assert runner.run(place).printed == b"again\n"
    (server,) = runner.runner._servers.values()
    runner.turn_until(lambda: server._child.pid)
    os.kill(server._child.pid, signal.SIGKILL)
    for _ in range(5):
        assert runner.run(place).printed == b"again\n"


def descendants(pid: int) -> list[int]:
    try:
        below = [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    except OSError:  # it has ended
        return []
    return [*below, *(more for each in below for more in descendants(each))]


def test_a_call_that_a_child_takes_from_a_lost_fork_server_is_run_again(runner: Scripts):
    place = runner.write("echo again")
    assert runner.run(place).printed == b"again\n"
    (server,) = runner.runner._servers.values()
    runner.turn_until(lambda: server._child.pid)
    spares = descendants(server._child.pid)
    replace = server._lost

    def send(number: int) -> None:
        for pid in spares:
            with suppress(ProcessLookupError):  # one that has ended the first call
                os.kill(pid, number)

    def lose(lost: ForkServer) -> None:
        lost.withdraw_untaken = set  # type: ignore[method-assign] # a child has read the line, but not the texts
        replace(lost)
        send(signal.SIGCONT)

    send(signal.SIGSTOP)
    server._lost = lose
    os.kill(server._child.pid, signal.SIGKILL)
    assert runner.run(place).printed == b"again\n"


def test_a_script_that_runs_when_its_fork_server_is_lost_is_not_run_again(runner: Scripts):
    place = runner.write("echo again >>printed; echo again")
    assert runner.run(place).printed == b"again\n"
    (server,) = runner.runner._servers.values()
    watchers: list[int] = []

    def stop_watchers() -> bool:
        """Stop the spare pairs' watchers, each the parent of what becomes the script."""
        watchers[:] = [pid for pid in descendants(server._child.pid) if descendants(pid)]
        for pid in watchers:
            os.kill(pid, signal.SIGSTOP)
        return bool(watchers)

    runner.turn_until(lambda: server._child.pid and stop_watchers())
    done: list[ProcessResult] = []
    runner.begin(place, done)
    runner.turn_until(lambda: (runner.home / "printed").read_text() == "again\n" * 2)
    os.kill(server._child.pid, signal.SIGKILL)
    runner.turn_until(lambda: server.is_over)
    for pid in watchers:
        os.kill(pid, signal.SIGCONT)
    runner.turn_until(lambda: done)
    assert done[0].printed == b"again\n"
    assert (runner.home / "printed").read_text() == "again\n" * 2


@pytest.mark.parametrize("version", ["too old", "no SDK"])
def test_without_a_fork_server_a_script_is_run_all_the_same(tmp_path: Path, version: str):
    sdk = tmp_path / "mcp-bash/sdk"
    (sdk.parent / "fork").mkdir(parents=True)
    for program in ("forkserver.bash", "launcher.bash"):
        text = (SDK.parent / "fork" / program).read_text()
        (sdk.parent / "fork" / program).write_text(
            text.replace("[0] < 5", "[0] < 500") if version == "too old" else text
        )
    made = Scripts(tmp_path)
    made.runner = ShellRunner(made.host, processes.ScriptLibraries(str(sdk), lambda number: made.base))
    try:
        place = made.write("echo all the same; exit 3")
        completed = made.run(place)
        assert (completed.status, completed.printed, completed.errors) == (3, b"all the same\n", b"")
    finally:
        made.close()
