"""One call of a Bash function: its descriptors, its notes and replies, and its end, with a shell that the test plays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from errno import EMFILE
from signal import SIGKILL
from typing import Any

import pytest

from mcpc_runtime.handlers.bash import job as job_module
from mcpc_runtime.handlers.bash.job import (
    ERRORS_FD,
    NOTES_FD,
    OUTPUT_FD,
    REPLIES_FD,
    TEXTS_FD,
    CallDescriptors,
    ShellJob,
    note_kind,
)
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.handlers.output_capture import LINGER_SECONDS, PIPE_LIMIT
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE
from support.fake_runtime import FakeChild, fake_context


class Played:
    """A job, and the shell's descriptors as numbers of the test."""

    def __init__(self, **options: Any) -> None:
        self.host = fake_context()
        self.reactor = self.host.reactor
        self.call = ShellCall("lib/a.sh", "tool", b"{}", 0)
        for name, value in options.items():
            setattr(self.call, name, value)
        self.done: list[ProcessResult] = []
        self.notes: list[Any] = []
        self.job = ShellJob(self.host, self.call, self.done.append, self.notes.append)
        self.ends: dict[int, int] = {}

    def connect(self, ends: CallDescriptors | None = None) -> Played:
        self.job.connect(ends)
        self.ends = {name: os.dup(end) for name, end in self.job.shell_ends.items()}
        return self

    def write(self, name: int, data: bytes) -> None:
        """Write as the shell does, and let the server read."""
        os.write(self.ends[name], data)
        self.reactor.ready_for(READABLE)

    def close(self, *names: int) -> None:
        """Close the shell's descriptors, or some of them, and let the server notice."""
        for name in names or list(self.ends):
            os.close(self.ends.pop(name))
        self.reactor.ready_for(READABLE)

    def reply(self) -> bytes:
        self.reactor.ready_for(WRITABLE)
        return os.read(self.ends[REPLIES_FD], 1 << 16)

    def result(self) -> tuple[Any, ...]:
        (done,) = self.done
        return done.status, done.printed, done.errors, done.problem


@pytest.fixture
def play() -> Iterator[Callable[..., Played]]:
    before = set(os.listdir("/dev/fd"))
    made: list[Played] = []

    def start(**options: Any) -> Played:
        made.append(Played(**options))
        return made[-1]

    yield start
    for each in made:
        each.job.release()
        each.close()
        assert each.reactor.watched == {}
    assert set(os.listdir("/dev/fd")) == before


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    groups: list[tuple[int, int]] = []
    monkeypatch.setattr(job_module, "signal_group", lambda group, number: groups.append((group, number)))
    return groups


DESCRIPTORS = [
    ({}, {OUTPUT_FD, ERRORS_FD, NOTES_FD}, 3),
    ({"calls_tools": True}, {OUTPUT_FD, ERRORS_FD, NOTES_FD, REPLIES_FD}, 3),
    ({"merged": True}, {OUTPUT_FD, ERRORS_FD, NOTES_FD}, 2),
    ({"merged": True, "calls_tools": True}, {OUTPUT_FD, ERRORS_FD, NOTES_FD, REPLIES_FD}, 2),
]


@pytest.mark.parametrize(("options", "names", "watched"), DESCRIPTORS)
@pytest.mark.parametrize("is_given", [False, True])
def test_a_call_has_the_descriptors_that_it_uses(
    play: Callable[..., Played], options: dict[str, Any], names: set[int], watched: int, is_given: bool
) -> None:
    played = play(**options)
    ends = CallDescriptors(b"0000000007") if is_given else None
    if ends is not None:
        ends.open()
        assert (set(ends.shell_ends), set(ends.own_ends)) == (
            {TEXTS_FD, OUTPUT_FD, ERRORS_FD, NOTES_FD, REPLIES_FD},
            {OUTPUT_FD, ERRORS_FD, NOTES_FD, REPLIES_FD},
        )
        passed = {name: ends.end_to_pass(name) for name in ends.shell_ends}
        own = {OUTPUT_FD, ERRORS_FD, NOTES_FD}
        assert passed == {**ends.shell_ends, **{name: ends.own_ends[name] for name in own}}
        ends.fields = {name: b"%d" % name for name in passed}
    assert not played.job.is_connected
    played.connect(ends)
    assert played.job.is_connected
    assert set(played.job.shell_ends) == (names | {TEXTS_FD} if is_given else names)
    is_same = os.path.sameopenfile(played.ends[OUTPUT_FD], played.ends[ERRORS_FD])
    assert (is_same, len(played.reactor.waiting(READABLE))) == (bool(options.get("merged")), watched)
    if ends is not None:
        assert ends.fields[ERRORS_FD] == (b"1" if options.get("merged") else b"4")
        assert (REPLIES_FD in ends.fields) == bool(options.get("calls_tools"))


def test_a_set_of_descriptors_is_closed_whole() -> None:
    before = os.listdir("/dev/fd")
    ends = CallDescriptors(b"1")
    ends.open()
    ends.drop(REPLIES_FD)
    ends.drop(REPLIES_FD)
    assert set(ends.shell_ends) == {TEXTS_FD, OUTPUT_FD, ERRORS_FD, NOTES_FD}
    ends.close()
    assert (ends.shell_ends, ends.own_ends, os.listdir("/dev/fd")) == ({}, {}, before)


@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_without_room_nothing_is_left_open(
    play: Callable[..., Played], failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, before, count = play(calls_tools=True), os.listdir("/dev/fd"), 0

    def fails(real: Callable[[], tuple[int, int]]) -> Callable[[], tuple[int, int]]:
        def pipe() -> tuple[int, int]:
            nonlocal count
            count += 1
            if count == failing:
                raise OSError(EMFILE, "no")
            return real()

        return pipe

    monkeypatch.setattr(job_module, "incoming", fails(job_module.incoming))
    monkeypatch.setattr(job_module, "outgoing", fails(job_module.outgoing))
    with pytest.raises(OSError, match="no"):
        played.job.connect()
    assert (os.listdir("/dev/fd"), played.job.is_connected) == (before, False)
    played.job.finish("late")
    assert played.done == []


def test_what_a_shell_writes_is_its_result(play: Callable[..., Played], killed: list[Any]) -> None:
    played = play().connect()
    begun: list[Any] = []
    played.job.on_begun = begun.append
    played.write(NOTES_FD, b'pid 4711\npid 5\n{"progress":1}\n')
    assert (played.job.pid, played.job.shell_ends, begun) == (4711, {}, [played.job])
    played.write(OUTPUT_FD, b"out")
    played.write(ERRORS_FD, b"err")
    os.write(played.ends[OUTPUT_FD], b"put")
    played.write(NOTES_FD, b'{"log":"x"}\nend 3\nend 4\n{"too":"late"}\n')
    assert (played.notes, played.done) == ([{"progress": 1}, {"log": "x"}], [])
    assert played.reactor.due == [LINGER_SECONDS]
    played.close(OUTPUT_FD)
    assert played.done == []
    played.close(ERRORS_FD)
    assert played.result() == (3, b"output", b"err", "")
    assert (killed, played.reactor.watched) == ([(4711, SIGKILL)], {})
    played.reactor.pass_time(1)
    assert len(played.done) == 1


def test_outputs_that_stay_open_delay_a_result_for_a_while_only(play: Callable[..., Played], killed: list[Any]) -> None:
    played = play(merged=True).connect()
    played.write(NOTES_FD, b"pid 7\nend 0\n")
    played.write(OUTPUT_FD, b"late")
    played.reactor.pass_time(LINGER_SECONDS - 0.01)
    assert played.done == []
    os.write(played.ends[OUTPUT_FD], b"st")
    played.reactor.pass_time(0.01)
    assert (played.result(), killed) == ((0, b"latest", b"", ""), [(7, SIGKILL)])


def test_a_child_that_is_lost_was_killed(play: Callable[..., Played], killed: list[Any]) -> None:
    played = play().connect()
    played.job.close_shell_ends()
    os.write(played.ends[OUTPUT_FD], b"half")
    played.close()
    assert (played.result(), killed) == ((-9, b"half", b"", ""), [])


def test_a_function_may_close_its_outputs(play: Callable[..., Played], killed: list[Any]) -> None:
    played = play().connect()
    played.write(NOTES_FD, b"pid 7\n")
    played.close(OUTPUT_FD, ERRORS_FD)
    assert (played.done, len(played.reactor.watched)) == ([], 1)
    played.write(NOTES_FD, b"end 4\n")
    assert (played.result(), killed) == ((4, b"", b"", ""), [(7, SIGKILL)])


def with_child(played: Played) -> FakeChild:
    child = played.job.child = FakeChild(50, [], {}, {})  # type: ignore[assignment]
    played.job.close_shell_ends()
    return child  # type: ignore[return-value]


def test_a_separate_shell_ends_by_its_status(play: Callable[..., Played], killed: list[Any]) -> None:
    played = play().connect()
    with_child(played)
    played.write(NOTES_FD, b'pid 4711\nend 3\n{"n":1}\n')
    played.close(NOTES_FD)
    assert (played.job.pid, played.done) == (0, [])
    played.close()
    played.job.end(2)
    played.job.end(5)
    assert (played.result(), killed, played.host.supervisor.told) == ((2, b"", b"", ""), [], [("end_rest", 50)])
    assert played.notes == [{"n": 1}]


def test_a_problem_is_no_reason_to_wait(play: Callable[..., Played]) -> None:
    played = play().connect()
    with_child(played)
    os.write(played.ends[NOTES_FD], b'{"n":1}\n')
    played.job.end(-1, "no bash")
    assert (played.result(), played.notes, played.reactor.due) == ((-1, b"", b"", "no bash"), [{"n": 1}], [])


def test_notes_of_a_separate_shell_count_until_its_result(play: Callable[..., Played]) -> None:
    played = play().connect()
    with_child(played)
    played.job.end(0)
    played.write(NOTES_FD, b'{"n":1}\n')
    played.reactor.pass_time(LINGER_SECONDS)
    assert (played.notes, played.result()) == ([{"n": 1}], (0, b"", b"", ""))


def test_a_stopped_call_has_no_result(play: Callable[..., Played], killed: list[Any]) -> None:
    played = play().connect()
    played.write(NOTES_FD, b"pid 7\n")
    played.job.done = None
    played.write(NOTES_FD, b'{"n":1}\nend 0\n')
    assert (played.notes, played.done, killed, played.reactor.watched) == ([], [], [(7, SIGKILL)], {})


def test_as_much_is_read_at_the_end_as_a_pipe_contains(play: Callable[..., Played]) -> None:
    played = play().connect()
    (output, *_) = sorted(played.job.streams)
    taken: list[int] = []
    played.job.streams[output] = lambda data: (taken.append(len(data)), os.write(played.ends[OUTPUT_FD], data))  # type: ignore[func-returns-value]
    os.write(played.ends[OUTPUT_FD], b"x" * (1 << 16))
    played.job.end(0)
    assert (sum(taken), played.job.shell_ends) == (PIPE_LIMIT, {})


CONTROL = [
    (b"pid 123456789\n", 123_456_789),
    (b"pid 1234567890\n", 0), (b"pid -1\n", 0), (b"pid\n", 0), (b"pid 5 6\n", 0), (b"other 5\n", 0), (b"\n", 0),
]  # fmt: skip


@pytest.mark.parametrize(("line", "pid"), CONTROL)
def test_a_control_line_is_a_keyword_and_a_number(play: Callable[..., Played], line: bytes, pid: int) -> None:
    played = play().connect()
    played.write(NOTES_FD, line)
    assert (played.job.pid, played.done, played.notes) == (pid, [], [])


def test_each_request_has_one_reply(play: Callable[..., Played]) -> None:
    played = play(calls_tools=True).connect()
    notes = [{"call": "t", "reply": 1}, {"ask": {"k": {}}, "reply": 2}, {"ask": {}, "form": True, "reply": 3}]
    played.write(NOTES_FD, b'{"call":"t","reply":1}\n{"ask":{"k":{}},"reply":2}\n{"ask":{},"form":true,"reply":3}\n')
    played.write(NOTES_FD, b'{"call":"t","reply":"4"}\n{"call":"t"}\n{"call":"t","reply":true}\n{"log":1,"reply":9}\n')
    assert played.notes == [*notes, {"log": 1, "reply": 9}]
    assert [played.job.request_kind(number) for number in (1, 2, 3, 4)] == ["call", "ask", "form", "call"]
    played.job.answer(2, 0, b"a\0b")
    played.job.answer(2, 1, b"again")
    played.job.answer(9, 0, b"unasked")
    played.job.answer(1, 1, b"")
    assert played.reply() == b"2 0 ab\x001 1 \0"
    assert played.reactor.waiting(WRITABLE) == set()
    played.write(NOTES_FD, b"called 5\nasked 6\nasked 2\ncalled 5\n")
    assert played.reply() == (
        b"5 1 the arguments are not a JSON object of at most 1 MiB\x006 3 the question is not JSON of at most 1 MiB\0"
    )


def test_without_replies_there_are_no_requests(play: Callable[..., Played]) -> None:
    played = play().connect()
    played.write(NOTES_FD, b'{"call":"t","reply":1}\n{"n":1}\n')
    played.job.answer(1, 0, b"x")
    assert (played.notes, played.reactor.waiting(WRITABLE)) == ([{"n": 1}], set())


def test_a_long_reply_is_written_as_the_shell_reads(play: Callable[..., Played]) -> None:
    played = play(calls_tools=True).connect()
    played.write(NOTES_FD, b'{"call":"t","reply":1}\n{"call":"t","reply":2}\n')
    played.job.answer(1, 0, b"x" * 200_000)
    found = played.reply()
    played.job.answer(2, 0, b"y")
    while len(found) < 200_005 + 6:
        found += played.reply()
    assert found == b"1 0 " + b"x" * 200_000 + b"\x002 0 y\0"
    assert played.reactor.waiting(WRITABLE) == set()
    played.job.answer(1, 0, b"again")
    assert played.reactor.waiting(WRITABLE) == set()


def test_a_shell_that_reads_no_replies_is_ignored(play: Callable[..., Played]) -> None:
    played = play(calls_tools=True).connect()
    played.job.close_shell_ends()
    played.write(NOTES_FD, b'{"call":"t","reply":1}\n')
    os.close(played.ends.pop(REPLIES_FD))
    played.job.answer(1, 0, b"x")
    played.reactor.ready_for(WRITABLE)
    assert (played.reactor.waiting(WRITABLE), played.done) == (set(), [])


def test_texts_are_a_file_that_can_be_withdrawn(play: Callable[..., Played], monkeypatch: pytest.MonkeyPatch) -> None:
    played = play()
    played.job.withdraw(3)
    played.job.write_texts(b"0123456789")
    assert os.lseek(played.job.shell_ends[TEXTS_FD], 0, os.SEEK_CUR) == 0
    file = played.job.shell_ends[TEXTS_FD]
    played.job.withdraw(3)
    played.job.write_texts(b"ab")
    assert (os.pread(file, 10, 0), played.job.shell_ends) == (b"ab2", {TEXTS_FD: file})

    def fail(file: int, data: bytes) -> None:
        raise OSError(EMFILE, "no")

    monkeypatch.setattr(job_module, "write_memory_file", fail)
    with pytest.raises(OSError, match="no"):
        played.job.write_texts(b"x")
    assert played.job.shell_ends == {}
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(file)


def test_texts_may_be_fed_through_a_pipe(play: Callable[..., Played]) -> None:
    played = play()
    played.job.write_texts(b"old")
    played.job.feed_texts(b"x" * 100_000)
    end, found = os.dup(played.job.shell_ends[TEXTS_FD]), b""
    played.job.close_shell_ends()
    while played.reactor.waiting(WRITABLE):
        played.reactor.ready_for(WRITABLE)
        found += os.read(end, 1 << 17)
    assert (found, os.read(end, 10)) == (b"x" * 100_000, b"")
    os.close(end)


@pytest.mark.parametrize(
    ("note", "kind"),
    [
        ({"ask": {}}, "ask"), ({"ask": {}, "form": True}, "form"), ({"ask": {}, "form": 1}, "ask"), ({"ask": []}, ""),
        ({"call": "t"}, "call"), ({"call": "t", "ask": {}}, "ask"), ({"ask": None, "call": 1}, "call"), ({}, ""),
    ],
)  # fmt: skip
def test_the_kind_of_a_note(note: dict[str, Any], kind: str) -> None:
    assert note_kind(note) == kind
