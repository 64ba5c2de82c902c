"""A handler as a process: what it gets, what is kept of it, and that nothing of it is left."""

from __future__ import annotations

import hashlib
import os
import posix
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpc_runtime.handlers import output_capture as capture
from mcpc_runtime.handlers.executable.runner import ProcessJob, ProcessRunner
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.posix import system_features as ways
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.processes import RUNTIME, nothing_left, turn_until

pytestmark = pytest.mark.sampled(3)


def shell(script: str, data: bytes = b"", *, merged: bool = False) -> Command:
    """A command as a shell is started: its errors come on descriptor 4, what it needs on descriptor 3."""
    command = Command(["bash", "--norc", "-c", f"exec 2>&4 4>&-\n{script}"], 0, {})
    command.data = data
    command.merged = merged
    return command


def program(script: str, told: bytes = b"", *, merged: bool = False) -> Command:
    """A command as an executable is started: it is told something, and its errors are errors."""
    command = Command(["bash", "--norc", "-c", script], 0, {})
    command.stdin = told
    command.merged = merged
    return command


class Calls:
    """A runner, and what came of its calls."""

    def __init__(self, environment: dict[bytes, bytes]) -> None:
        self.reactor = Reactor()
        image = SimpleNamespace(hooks=lambda name: (), index={"environments": ()})
        self.host = RunnerContext(self.reactor, image)
        self.host._environments[0] = environment
        self.runner = ProcessRunner(self.host)
        self.done: dict[int, ProcessResult] = {}
        self.notes: dict[int, list[object]] = {}
        self.order: list[object] = []

    def start(self, command: Command) -> ProcessJob:
        number = len(self.notes)
        self.notes[number] = []

        def done(completed: ProcessResult) -> None:
            assert number not in self.done
            self.done[number] = completed
            self.order.append("done")

        def note(value: object) -> None:
            self.notes[number].append(value)
            self.order.append(value)

        return self.runner.start(command, done, note)

    def until(self, is_so) -> None:
        turn_until(self.reactor, is_so)

    def run(self, *commands: Command) -> list[ProcessResult]:
        first = len(self.notes)
        for command in commands:
            self.start(command)
        numbers = range(first, first + len(commands))
        self.until(lambda: all(number in self.done for number in numbers))
        return [self.done[number] for number in numbers]


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.fixture(params=["all ways", "memfd", "proc,pidfd,subreaper,seqpacket"])
def calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    monkeypatch.setitem(posix.environ, ways.WITHOUT, request.param.encode())
    with nothing_left() as token:
        made = Calls(token.environment)
        made.host.errors  # noqa: B018 - it stays open as long as the server
        made.run(shell("true"))
        before = descriptors()
        yield made
        made.until(lambda: len(descriptors()) <= len(before))
        made.host.close()
        for descriptor in list(made.reactor._callbacks):
            os.close(descriptor)
        os.close(made.host.errors)


def test_streams_in_the_order_they_were_written(calls: Calls) -> None:
    (done,) = calls.run(shell("echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three; exit 3"))
    assert (done.status, done.output, done.printed, done.errors) == (3, b"one\ntwo\nthree\n", b"one\nthree\n", b"two\n")
    (done,) = calls.run(shell("echo one; echo two >&2; echo three", merged=True))
    assert (done.status, done.output, done.printed) == (0, b"one\ntwo\nthree\n", b"one\ntwo\nthree\n")


def test_a_program_is_told_on_its_standard_input(calls: Calls) -> None:
    (done,) = calls.run(program("cat; echo no >&2; exit 2", b"told"))
    assert (done.status, done.printed, done.errors) == (2, b"told", b"no\n")
    (done,) = calls.run(program("cat; echo no >&2", b"", merged=True))
    assert (done.status, done.printed, done.errors) == (0, b"no\n", b"")
    (done,) = calls.run(program("for n in {0..7}; do [[ ! -e /proc/$$/fd/$n ]] || echo $n; done", b"told"))
    assert done.printed.split() == [b"0", b"1", b"2", b"5"]


@pytest.mark.parametrize("make", [shell, program])
@pytest.mark.sampled(6)
def test_a_text_of_any_size_is_exact(calls: Calls, make) -> None:
    data = bytes(range(256)) * 65_536
    (done,) = calls.run(make("if [[ -e /dev/fd/3 ]]; then exec <&3; fi; sha256sum; wc -c", data))
    assert done.printed.split()[0].decode() == hashlib.sha256(data).hexdigest()


def test_a_background_child_holds_nothing_up_and_is_not_left(calls: Calls) -> None:
    (done,) = calls.run(shell("trap '' HUP TERM; (sleep 0.05; echo late; exec sleep 1000) & echo early; exit 0"))
    assert done.printed in (b"early\nlate\n", b"early\n")


def test_a_daemon_that_holds_the_output_does_not_hold_the_answer(calls: Calls) -> None:
    (done,) = calls.run(shell("setsid bash -c 'while :; do echo noise; done' & echo $!; exit 0"))
    assert done.status == 0
    assert len(done.printed) < 64 << 20


@pytest.mark.parametrize("script", ["sleep 60", "trap '' TERM; sleep 60 & wait; sleep 60"])
def test_a_stopped_one_is_gone_and_not_reported(calls: Calls, script: str) -> None:
    job = calls.start(shell("echo '{\"progress\":1}' >&5; " + script))
    calls.until(lambda: calls.order[-1:] == [{"progress": 1}])
    calls.runner.stop(job)
    calls.until(lambda: job.is_over)
    assert calls.order[-1:] == [{"progress": 1}]


def test_what_is_told_to_stop_may_still_write(calls: Calls, tmp_path: Path) -> None:
    script = f"trap 'head -c 200000 /dev/zero; echo $? >{tmp_path}/status; exit' TERM; echo '{{\"ready\":1}}' >&5; while :; do sleep 0.1; done"
    job = calls.start(shell(script))
    calls.until(lambda: calls.order[-1:] == [{"ready": 1}])
    calls.runner.stop(job)
    calls.until(lambda: job.is_over)
    assert (tmp_path / "status").read_text() == "0\n"


FLOOD = """
import os, sys
sys.path.insert(0, sys.argv[1])
from types import SimpleNamespace
from mcpc_runtime.handlers.invocations import Command
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.reactor import Reactor
from mcpc_runtime.handlers.executable.runner import ProcessRunner
def peak():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1])
host = RunnerContext(Reactor(), SimpleNamespace(hooks=lambda name: (), index={"environments": ()}))
host._environments[0] = dict(os.environb)
found = []
runner = ProcessRunner(host)
def run(script):
    command = Command(["bash", "-c", script], 0, {})
    command.stdin = b""
    found.clear()
    runner.start(command, found.append, found.append)
    while not found:
        host.reactor.turn()
run("true")
before = peak()
run(sys.argv[2])
print(found[0].status, len(found[0].output), found[0].dropped, peak() - before)
host.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "size"),
    [
        ("head -c 1073741824 /dev/zero", 1 << 30),
        ("head -c 268435456 /dev/zero >&2", 1 << 28),
        ("head -c 268435456 /dev/zero >&5", 0),
    ],
)
def test_memory_does_not_depend_on_what_a_handler_writes(script: str, size: int) -> None:
    with nothing_left() as token:
        words = [sys.executable, "-I", "-S", "-c", FLOOD, str(RUNTIME), script]
        read, write = os.pipe()
        pid = os.posix_spawnp(words[0], words, token.environment, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
        os.close(write)
        with os.fdopen(read) as file:
            status, kept, dropped, grown = map(int, file.read().split())
        os.waitpid(pid, 0)
    assert (status, kept + dropped) == (0, size)
    pieces = capture.HEAD_LIMIT // capture.READ_SIZE + 1
    assert abs(kept - min(size, capture.HEAD_LIMIT)) <= pieces * capture.CHUNK_COST
    assert grown < (capture.OUTPUT_LIMIT + (8 << 20)) // 1024
