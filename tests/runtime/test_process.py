"""A handler as a process: what it gets, what is kept of it, and that nothing of it is left."""

import os
import time

import pytest

from mcpc_runtime.commands import Command, Completed
from mcpc_runtime.reactor import Reactor
from mcpc_runtime.runners import process
from mcpc_runtime.runners.process import ProcessRunner


def command(script: str, data: bytes = b"", merged: bool = False) -> Command:
    return Command(["bash", "--norc", "-c", f"exec 2>&4 4>&-\n{script}"], data, os.environ, merged)


def run(*commands: Command) -> list[Completed]:
    reactor = Reactor()
    runner = ProcessRunner(reactor, None)
    done: dict[int, Completed] = {}
    for number, each in enumerate(commands):
        runner.start(each, lambda completed, number=number: done.__setitem__(number, completed))
    deadline = time.monotonic() + 30
    while len(done) < len(commands):
        assert time.monotonic() < deadline
        reactor.after(0.05, lambda: None)
        reactor.turn()
    assert reactor._callbacks == {}
    return [done[number] for number in range(len(commands))]


def inherited(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True, params=["linux", "without pidfd and memfd"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    if request.param != "linux":
        monkeypatch.delattr(process.posix, "pidfd_open", raising=False)
        monkeypatch.delattr(process.posix, "memfd_create", raising=False)
    before = descriptors()
    yield
    assert descriptors() == before


def test_streams_in_the_order_they_were_written() -> None:
    (done,) = run(command("echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three; exit 3"))
    assert (done.status, done.output, done.printed, done.errors) == (3, b"one\ntwo\nthree\n", b"one\nthree\n", b"two\n")
    (done,) = run(command("echo one; echo two >&2; echo three", merged=True))
    assert (done.status, done.output, done.printed) == (0, b"one\ntwo\nthree\n", b"one\ntwo\nthree\n")


def test_input_is_at_its_end_and_the_text_comes_on_descriptor_3() -> None:
    (done,) = run(command("cat; cat <&3", b"told"))
    assert done.printed == b"told"


def test_a_text_of_any_size_is_exact() -> None:
    data = bytes(range(1, 256)) * 40_000
    (done,) = run(command("cat <&3 | sha256sum; wc -c <&3", data))
    assert done.printed.split()[0].decode() == __import__("hashlib").sha256(data).hexdigest()


def test_a_text_nobody_reads_is_no_problem() -> None:
    (done,) = run(command("exec 3<&-; echo done", b"x" * 1_000_000))
    assert (done.status, done.printed) == (0, b"done\n")


def test_a_death_by_signal_is_told() -> None:
    (done,) = run(command("kill -9 $$"))
    assert done.status == -9


def test_a_program_that_is_not_there_is_told() -> None:
    (done,) = run(Command(["/nowhere/bash"], b"", {}, False))
    assert done.problem == "cannot run /nowhere/bash: No such file or directory"


def test_a_background_child_holds_nothing_up_and_is_not_left() -> None:
    started = time.monotonic()
    (done,) = run(command("sleep 60 & echo $!; exit 0"))
    assert time.monotonic() - started < 10
    with pytest.raises(ProcessLookupError):
        while True:  # it is killed, and gone as soon as somebody reaps it
            os.kill(int(done.printed), 0)
            with open(f"/proc/{int(done.printed)}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    raise ProcessLookupError


def test_of_a_long_output_the_head_is_kept_and_the_rest_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1000)
    (done,) = run(command("head -c 5000 /dev/zero | tr '\\0' x"))
    assert (len(done.printed), done.dropped) == (1000, 4000)


def test_many_at_once_are_each_their_own() -> None:
    found = run(*(command("read -r n <&3; sleep 0.2; echo $n", b"%d\n" % number) for number in range(20)))
    assert [int(done.printed) for done in found] == list(range(20))


def test_default_signals_and_no_descriptor_but_its_own() -> None:
    (done,) = run(command("grep SigIgn /proc/$$/status; ls /proc/$$/fd"))
    ignored, *open_now = done.printed.decode().split("\n")
    assert int(ignored.split()[1], 16) & (1 << 12 | 1 << 24) == 0
    ours = {number for number in map(int, os.listdir("/proc/self/fd")) if number > 3 and inherited(number)}
    assert {int(number) for number in open_now if number} <= {0, 1, 2, 3, 4, 255} | ours  # 4 is ls reading the folder


@pytest.mark.parametrize("script", ["sleep 60", "trap '' TERM; sleep 60 & wait; sleep 60"])
def test_a_stopped_one_is_gone_and_not_reported(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    reactor = Reactor()
    runner = ProcessRunner(reactor, None)
    reported: list[Completed] = []
    job = runner.start(command(script), reported.append)
    time.sleep(0.1)
    runner.stop(job)
    deadline = time.monotonic() + 10
    while runner._jobs:
        assert time.monotonic() < deadline
        reactor.after(0.05, lambda: None)
        reactor.turn()
    assert reported == []
