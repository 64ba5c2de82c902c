"""Fresh shells: what each is started with, without starting one, and which calls have one."""

import os
from collections.abc import Iterator
from errno import EMFILE, ENOEXEC
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.bash import runner as runner_module
from mcpc_runtime.handlers.bash.runner import ShellRunner, refused_result
from mcpc_runtime.handlers.bash.standard_streams import BOOT, StandardStreamsJob
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE
from support.fake_runtime import FakeChild, fake_context


class Shells:
    """A runner whose shells are played by the test; `without`: features of the system that are missing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.host = fake_context(index={"environment": (), "shell": ("a.sh",), "prelude": ()})
        self.reactor, self.supervisor = self.host.reactor, self.host.supervisor
        self.without: set[str] = set()
        features = SimpleNamespace(has=lambda name: name not in self.without)
        monkeypatch.setattr(runner_module, "system_features", features)
        self.programs = SimpleNamespace(
            name="a.sh",
            program=lambda name: f"run {name}",
            environment=lambda number: {b"N": b"%d" % number},
            texts=lambda part=b"": [b"prelude", part or b"all"],
        )
        self.runner = ShellRunner(self.host, self.programs)
        self.done: list[ProcessResult] = []
        self.notes: list[Any] = []

    def start(self, **options: Any) -> Any:
        call = ShellCall("lib/a.sh", "tool", b"{}", 3)
        call.isolated = True
        for name, value in options.items():
            setattr(call, name, value)
        return self.runner.start(call, self.done.append, self.notes.append)

    @property
    def child(self) -> FakeChild:
        child: FakeChild = self.supervisor.children[-1]
        return child

    def end(self, status: int = 0, problem: str = "") -> tuple[Any, ...]:
        """End the newest shell, and return the result of its call."""
        self.child.die(status, problem)
        done = self.done.pop()
        return done.status, done.printed, done.errors, done.problem


@pytest.fixture
def shells(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shells]:
    before = set(os.listdir("/dev/fd"))
    made = Shells(monkeypatch)
    yield made
    made.runner.close()
    made.supervisor.close()
    assert made.reactor.watched == {}
    assert set(os.listdir("/dev/fd")) == before


def text_of(child: FakeChild, number: int) -> bytes:
    return os.pread(child.ends[number], 10_000, 0)


def test_a_fresh_shell_has_its_texts_and_a_mark(shells: Shells) -> None:
    job = shells.start(slice=b"part", exported={b"E": b"1"}, variables={"v": [b"x"]})
    argv = ["bash", "--norc", "--noprofile", "-c", "run launcher.bash", "a.sh", "tool", "6", "0", ""]
    mark = f"{os.getpid()}.b1"
    assert (shells.child.argv, job.mark) == (argv, mark)
    assert shells.child.environment == {b"N": b"3", b"MCPC_CALL": mark.encode(), b"MCPC_NOTES": b"7"}
    assert sorted(shells.child.ends) == [1, 3, 4, 7]
    assert text_of(shells.child, 3) == b"prelude\0part\0{}\0E\0+\x001\0v\x001\0x\0"
    os.write(shells.child.ends[1], b"out")
    assert shells.end(2) == (2, b"out", b"", "")
    assert shells.start(calls_tools=True).mark.endswith("b2")
    assert shells.child.argv[6:] == ["tool"]
    assert (shells.child.environment[b"MCPC_ANSWERS"], sorted(shells.child.ends)) == (b"8", [1, 3, 4, 7, 8])
    assert text_of(shells.child, 3) == b"prelude\0all\0{}\0"
    assert shells.end(-9) == (-9, b"", b"", "")


@pytest.mark.parametrize("missing", ["proc", "memfd", "seqpacket"])
def test_a_system_without_a_feature_has_fresh_shells_only(shells: Shells, missing: str) -> None:
    shells.without.add(missing)
    shells.start(isolated=False, slice=b"part")
    if missing == "memfd":
        shells.reactor.ready_for(WRITABLE)
        assert os.read(shells.child.ends[3], 100) == b"prelude\0all\0{}\0"
        assert os.read(shells.child.ends[3], 100) == b""
    else:
        assert text_of(shells.child, 3) == b"prelude\0all\0{}\0"
    assert shells.end() == (0, b"", b"", "")


@pytest.mark.parametrize(("number", "is_raised"), [(EMFILE, True), (ENOEXEC, False)])
def test_texts_go_through_a_pipe_where_files_cannot_be_written(
    shells: Shells, number: int, is_raised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(job: Any, texts: bytes) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(runner_module.JOB_KIND, "write_texts", fail)
    if is_raised:
        with pytest.raises(OSError, match="no"):
            shells.start()
        assert (shells.supervisor.children, shells.reactor.watched) == ([], {})
        return
    shells.start()
    shells.reactor.ready_for(WRITABLE)
    assert os.read(shells.child.ends[3], 100) == b"prelude\0all\0{}\0"
    shells.end()


def test_a_call_that_cannot_be_started_leaves_nothing(shells: Shells) -> None:
    shells.supervisor.problems.append(OSError(EMFILE, "no"))
    with pytest.raises(OSError, match="no"):
        shells.start()
    assert (shells.done, shells.reactor.watched) == ([], {})


def test_a_refused_call_is_not_made(shells: Shells) -> None:
    assert shells.start(refusal="é\ud800") is None
    (done,) = shells.done
    assert (done.status, done.printed, done.problem) == (1, "é?".encode(), "")
    assert shells.supervisor.children == []
    shells.runner.stop(None)
    assert refused_result("x").output == b"x"


def test_a_stopped_call_is_ended_once(shells: Shells) -> None:
    job = shells.start()
    pid = shells.child.pid
    shells.runner.stop(job)
    shells.runner.stop(job)
    assert shells.supervisor.told == [("end", pid, job.mark)]
    shells.child.die(-9)
    assert shells.done == []
    forked = shells.start()
    child, forked.child, forked.pid = forked.child, None, 4711
    shells.runner.stop(forked)
    assert shells.supervisor.told[-1] == ("end", 4711, forked.mark)
    forked.child = child
    shells.child.die()


def test_a_reply_is_encoded_for_its_request(shells: Shells) -> None:
    job = shells.start(calls_tools=True)
    os.write(shells.child.ends[7], b'{"call":"t","reply":1}\n{"ask":{"k":{}},"reply":2}\n')
    shells.reactor.ready_for(READABLE)
    shells.runner.answer(job, 1, {"content": [{"text": "a"}], "isError": True})
    shells.runner.answer(job, 2, {"answers": {"k": 5}})
    shells.reactor.ready_for(WRITABLE)
    assert os.read(shells.child.ends[8], 100) == b"1 1 a\x002 0 5\0"
    shells.end()


@pytest.mark.parametrize(("merged", "calls_tools"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_shell_may_have_its_standard_streams_only(
    shells: Shells, merged: bool, calls_tools: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "JOB_KIND", StandardStreamsJob)
    job = shells.start(
        merged=merged, calls_tools=calls_tools, errexit="e", variables={"v": b"x"}, isolated=calls_tools, slice=b"part"
    )
    child = shells.child
    boot = BOOT.format(errors=1 if merged else 2, replies="8<&0" if calls_tools else "")
    assert (child.argv, sorted(child.ends)) == (["bash", "--norc", "--noprofile", "-c", boot], [0, 1, 2])
    variables = {b"N": b"3", b"MCPC_CALL": job.mark.encode(), b"MCPC_NOTES": b"7"}
    prefix = child.environment.pop(b"MCPC_NOTE_PREFIX", b"")
    assert (len(prefix), prefix[:1], prefix[-1:]) == ((0, b"", b"") if merged else (26, b"\x1e", b"\x1e"))
    assert child.environment == {**variables, **({b"MCPC_ANSWERS": b"8"} if calls_tools else {})}
    part = b"part" if calls_tools else b"all"
    texts = b"run launcher.bash\0a.sh\0tool\x003\x006\0e\0prelude\0" + part + b"\0{}\0v\0=\0x\0"
    if calls_tools:
        shells.reactor.ready_for(WRITABLE)
        assert os.read(child.ends[0], 1000) == texts
    else:
        assert text_of(child, 0) == texts
    os.write(child.ends[2], b"err" * (not merged) + prefix + b'{"n":1}\n')
    shells.reactor.ready_for(READABLE)
    assert shells.notes == [{"n": 1}]
    os.write(child.ends[1], b"out")
    os.write(child.ends[2], b"\x1e" if not merged else b"")
    assert shells.end(4) == (4, b"out", b"" if merged else b"err\x1e", "")


def test_numbers_of_calls_begin_again(shells: Shells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "MAX_CALL_NUMBER", 2)
    marks = []
    for _ in range(3):
        marks.append(shells.start().mark)
        shells.end()
    assert [mark.partition(".")[2] for mark in marks] == ["b1", "b2", "b1"]
