"""Programs as handlers, played by the test: their descriptors, inputs and outputs, and their end."""

import os
from collections.abc import Iterator
from errno import EIO, EMFILE
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.executable import runner as runner_module
from mcpc_runtime.handlers.executable.runner import ProcessRunner
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.output_capture import LINGER_SECONDS
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE
from support.fake_runtime import FakeChild, fake_context


class Programs:
    """A runner whose programs are played by the test."""

    def __init__(self) -> None:
        self.context = fake_context()
        self.context.errors = 2
        self.reactor, self.supervisor = self.context.reactor, self.context.supervisor
        self.runner = ProcessRunner(self.context)
        self.done: list[ProcessResult] = []
        self.notes: list[Any] = []

    def start(self, **options: Any) -> Any:
        command = Command(["program", "x"], 4, {b"E": b"1"})
        command.stdin = b""
        for name, value in options.items():
            setattr(command, name, value)
        return self.runner.start(command, self.done.append, self.notes.append)

    @property
    def child(self) -> FakeChild:
        child: FakeChild = self.supervisor.children[-1]
        return child

    def result(self) -> tuple[Any, ...]:
        done = self.done.pop()
        return done.status, done.printed, done.errors, done.problem


@pytest.fixture
def programs() -> Iterator[Programs]:
    before = set(os.listdir("/dev/fd"))
    made = Programs()
    yield made
    made.runner.close()
    for child in made.supervisor.children:
        if child.ends:
            child.die()
    assert made.reactor.watched == {}
    assert set(os.listdir("/dev/fd")) == before


NOTES = {b"N": b"4", b"E": b"1", b"MCPC_NOTES": b"5"}
COMMANDS: list[tuple[dict[str, Any], list[int], dict[bytes, bytes]]] = [
    ({}, [1, 2, 5], NOTES),
    ({"stdin": b"in"}, [0, 1, 2, 5], NOTES),
    ({"stdin": b"in", "data": b"data"}, [0, 1, 2, 3, 5], NOTES),
    ({"stdin": None}, [1, 2, 3, 4, 5], NOTES),
    ({"stdin": None, "data": b"data", "merged": True}, [1, 2, 3, 4, 5], NOTES),
    ({"exact": {b"A": b"2"}, "merged": True}, [1, 2], {b"A": b"2", b"E": b"1"}),
]


@pytest.mark.parametrize(("options", "numbers", "environment"), COMMANDS)
def test_a_program_has_the_descriptors_that_it_needs(
    programs: Programs, options: dict[str, Any], numbers: list[int], environment: dict[bytes, bytes]
) -> None:
    job = programs.start(directory="/d", **options)
    child = programs.child
    assert (child.argv, child.directory, sorted(child.ends)) == (["program", "x"], "/d", numbers)
    mark = f"{os.getpid()}.p1"
    assert (job.mark, child.environment) == (mark, {**environment, b"MCPC_CALL": mark.encode()})
    errors = 4 if options.get("stdin", b"") is None else 2
    assert os.path.sameopenfile(child.ends[1], child.ends[errors]) is bool(options.get("merged"))
    if errors == 4:
        assert os.path.sameopenfile(child.ends[2], 2)
    for number, name in ((0, "stdin"), (3, "data")):
        if number in child.ends:
            assert os.read(child.ends[number], 100) == options.get(name, b"")
    assert len(programs.reactor.waiting(READABLE)) == len({*numbers} - {0, 3}) - (errors == 4) - bool(
        options.get("merged")
    )
    programs.start()
    assert programs.child.environment[b"MCPC_CALL"] == f"{os.getpid()}.p2".encode()


def test_outputs_notes_and_status_are_its_result(programs: Programs) -> None:
    programs.start()
    child = programs.child
    os.write(child.ends[1], b"out")
    os.write(child.ends[5], b'{"n":1}\nno note\n')
    programs.reactor.ready_for(READABLE)
    os.write(child.ends[2], b"err")
    os.write(child.ends[1], b"put")
    child.die(3)
    assert (programs.result(), programs.notes) == ((3, b"output", b"err", ""), [{"n": 1}])
    assert (programs.supervisor.told, programs.reactor.due) == ([("end_rest", child.pid)], [])


def test_open_outputs_delay_a_result_for_a_while(programs: Programs) -> None:
    programs.start(exact={})
    child = programs.child
    child.ended(0, "")
    os.write(child.ends[1], b"late")
    programs.reactor.ready_for(READABLE)
    assert (programs.done, programs.reactor.due) == ([], [LINGER_SECONDS])
    child.close(2)
    programs.reactor.ready_for(READABLE)
    assert programs.done == []
    os.write(child.ends[1], b"st")
    programs.reactor.pass_time(LINGER_SECONDS)
    assert programs.result() == (0, b"latest", b"", "")
    child.close()
    programs.start(exact={})
    programs.child.ended(0, "")
    programs.child.close()
    programs.reactor.ready_for(READABLE)
    assert programs.result() == (0, b"", b"", "")
    programs.reactor.pass_time(1)
    assert programs.done == []


def test_a_problem_is_told_at_once(programs: Programs) -> None:
    programs.start()
    programs.child.ended(-1, "cannot run it")
    assert (programs.result(), programs.reactor.due) == ((-1, b"", b"", "cannot run it"), [])
    programs.child.close()


def test_a_stopped_program_is_ended_and_has_no_result(programs: Programs) -> None:
    job = programs.start()
    programs.runner.stop(job)
    child = programs.child
    os.write(child.ends[1], b"x" * 1000)
    os.write(child.ends[5], b'{"n":1}\n')
    programs.reactor.ready_for(READABLE)
    assert programs.supervisor.told == [("end", child.pid, job.mark)]
    child.ended(-9, "")
    programs.runner.stop(job)
    assert (programs.done, programs.notes, len(programs.supervisor.told)) == ([], [], 2)
    assert (job.capture.output_size, programs.reactor.watched) == (0, {})
    child.close()
    other = programs.start()
    programs.child.ended(0, "")
    programs.runner.stop(other)
    assert len(programs.supervisor.told) == 2
    programs.reactor.pass_time(LINGER_SECONDS)
    assert programs.done == []
    programs.child.close()


def test_a_refused_command_is_not_run(programs: Programs) -> None:
    assert programs.start(refusal="no") is None
    assert (programs.result()[3], programs.supervisor.children) == ("no", [])


def test_a_program_that_cannot_be_started_leaves_nothing(programs: Programs) -> None:
    programs.supervisor.problems.append(OSError(EMFILE, "no room"))
    before = os.listdir("/dev/fd")
    with pytest.raises(OSError, match="no room"):
        programs.start(stdin=b"in")
    assert (os.listdir("/dev/fd"), programs.reactor.watched) == (before, {})


@pytest.mark.parametrize("missing", [True, False])
def test_inputs_go_through_pipes_where_files_cannot_be_made(
    programs: Programs, missing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes, opened: list[int]) -> int:
        raise OSError(EIO, "no files")

    features = SimpleNamespace(has=lambda name: not missing, NO_ROOM=(EMFILE,))
    monkeypatch.setattr(runner_module, "system_features", features)
    monkeypatch.setattr(runner_module, "memory_file", fail)
    programs.start(stdin=b"x" * 100_000)
    found = b""
    while programs.reactor.waiting(WRITABLE):
        programs.reactor.ready_for(WRITABLE)
        found += os.read(programs.child.ends[0], 1 << 17)
    assert (found, os.read(programs.child.ends[0], 9)) == (b"x" * 100_000, b"")
    programs.start(stdin=b"y" * 100_000)
    programs.child.close(0)
    programs.reactor.ready_for(WRITABLE)
    assert programs.reactor.waiting(WRITABLE) == set()
    programs.start(stdin=b"z" * 100_000)  # never read
    programs.child.die()
    assert programs.result() == (0, b"", b"", "")


def test_no_room_for_a_file_is_no_reason_for_a_pipe(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(data: bytes, opened: list[int]) -> int:
        raise OSError(EMFILE, "no room")

    monkeypatch.setattr(runner_module, "memory_file", fail)
    before = os.listdir("/dev/fd")
    with pytest.raises(OSError, match="no room"):
        programs.start(stdin=b"in")
    assert os.listdir("/dev/fd") == before
