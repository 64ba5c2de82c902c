"""A fork server and the process that passes descriptors to it, both played by the test."""

import _socket
import os
from collections.abc import Iterator
from errno import EMFILE
from signal import SIGKILL
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.bash import fork_server
from mcpc_runtime.handlers.bash import runner as runner_module
from mcpc_runtime.handlers.bash.fork_server import (
    BEGIN_SECONDS,
    CHECK_SECONDS,
    FILL_SECONDS,
    FORGET_SECONDS,
    LINE_LENGTH,
    MAX_FORGOTTEN,
    MAX_WAITING,
    PASSED_DESCRIPTORS,
    READ_SECONDS,
    RETRY_SECONDS,
    DescriptorPassing,
    call_line,
)
from mcpc_runtime.handlers.bash.runner import FRESH_SHELL_SECONDS, LATE_SECONDS, ShellRunner
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.transports.platforms.reactor import READABLE
from support.fake_runtime import FakeChild, fake_context


class Passer:
    """The process that holds the sets: what it was sent, and the descriptors by the numbers of their sets."""

    def __init__(self, child: FakeChild) -> None:
        self.socket = _socket.socket(fileno=child.ends.pop(3))
        self.socket.setblocking(False)
        self.messages: list[tuple[int, list[bytes]]] = []
        self.held: dict[bytes, list[int]] = {}

    def read(self) -> list[tuple[int, list[bytes]]]:
        """Read the next messages: each the count of its sets, and the numbers in it."""
        found = []
        while True:
            try:
                data, passed, _, _ = self.socket.recvmsg(4096, _socket.CMSG_SPACE(4 * 20))
            except BlockingIOError:
                return found
            if not data:
                return found
            rights = passed[0][2] if passed else b""
            ends = [int.from_bytes(rights[at : at + 4], "little") for at in range(0, len(rights), 4)]
            numbers = [data[at : at + 10] for at in range(2, len(data), 10)]
            count = int(data[:2])
            assert len(ends) == 5 * count
            for at, number in enumerate(numbers[:count]):
                self.held[number] = ends[5 * at : 5 * at + 5]
            found.append((count, numbers))

    def answer(self, *numbers: bytes) -> None:
        """Tell the server by which numbers it holds some sets, or all that it has not told of."""
        lines = []
        for number in numbers or list(self.held):
            ends = b"".join(b"%6d" % end for end in self.held[number]).replace(b" ", b"/")
            lines.append(number + ends + b"////4711")
        self.socket.send(b"".join(lines))

    def close(self) -> None:
        for ends in self.held.values():
            for end in ends:
                os.close(end)
        self.held.clear()
        self.socket.close()


def numbers(*values: int) -> list[bytes]:
    return [b"%010d" % value for value in values]


@pytest.fixture
def context() -> Iterator[Any]:
    before = set(os.listdir("/dev/fd"))
    made = fake_context(index={"environment": (), "shell": ("a.sh",), "prelude": ()})
    yield made
    made.supervisor.close()
    assert set(os.listdir("/dev/fd")) == before


@pytest.fixture
def passing(context: Any) -> Iterator[tuple[DescriptorPassing, Passer, Any]]:
    made = DescriptorPassing(context, {b"A": b"1"}, lambda status, problem: None)
    passer = Passer(context.supervisor.children[0])
    yield made, passer, context.reactor
    made.close()
    made.close()
    passer.close()
    assert context.reactor.watched == {}


def test_sets_are_sent_before_they_are_needed(passing: tuple[DescriptorPassing, Passer, Any], context: Any) -> None:
    made, passer, reactor = passing
    ready: list[bool] = []
    made.on_ready = lambda: ready.append(made.is_ready)
    (child,) = context.supervisor.children
    assert (child.argv[1:4], child.argv[4], child.environment) == (
        ["-I", "-S", "-c"], fork_server.PROGRAM, {b"A": b"1"}
    )  # fmt: skip
    assert passer.read() == [(4, numbers(1, 2, 3, 4))]
    assert (made.is_ready, reactor.due) == (False, [])
    reactor.ready_for(READABLE)  # nothing is there
    passer.answer()
    reactor.ready_for(READABLE)
    assert (made.is_ready, ready) == (True, [True])
    first = made.take()
    assert (first.number, set(first.fields), first.process) == (b"0000000001", set(PASSED_DESCRIPTORS), b"////4711")
    for name, end in zip(PASSED_DESCRIPTORS, passer.held[first.number], strict=True):
        assert int(first.fields[name].strip(b"/")) == end
    line = call_line(b"0000000009", first)
    assert (len(line), line[:10], line[-8:]) == (LINE_LENGTH, b"0000000009", b"////4711")
    assert line[10:16] == first.fields[PASSED_DESCRIPTORS[0]]
    first.fields.clear()
    assert call_line(b"0000000009", first) == b"0000000009" + b"/" * 30 + b"////4711"
    assert (passer.read(), reactor.due) == ([], [FILL_SECONDS])
    second = made.take()
    assert (passer.read(), reactor.due) == ([], [FILL_SECONDS])
    third = made.take()
    assert passer.read() == [(3, numbers(5, 6, 7))]
    reactor.pass_time(FILL_SECONDS)
    assert (passer.read(), reactor.due) == ([], [])
    for each in (first, second, third):
        each.close()


def test_a_missing_set_is_replaced_after_a_while(passing: tuple[DescriptorPassing, Passer, Any]) -> None:
    made, passer, reactor = passing
    passer.read()
    passer.answer()
    reactor.ready_for(READABLE)
    made.take().close()
    reactor.pass_time(FILL_SECONDS)
    assert (passer.read(), reactor.due) == ([(1, numbers(5))], [])
    made.take().close()
    assert reactor.due == [FILL_SECONDS]


def test_sets_that_no_call_needs_are_closed_together(passing: tuple[DescriptorPassing, Passer, Any]) -> None:
    made, passer, reactor = passing
    passer.read()
    passer.answer()
    reactor.ready_for(READABLE)
    for number in numbers(1, 2):
        made.forget(number)
    assert reactor.due == [FORGET_SECONDS]
    reactor.pass_time(FORGET_SECONDS)
    assert (passer.read(), reactor.due) == ([(0, numbers(1, 2))], [])
    made.forget(b"0000000003")
    made.take().close()
    reactor.pass_time(FILL_SECONDS)
    assert passer.read() == [(1, numbers(5, 3))]  # with the next set
    reactor.pass_time(FORGET_SECONDS)
    assert (passer.read(), reactor.due) == ([], [])
    for number in range(MAX_FORGOTTEN + 1):
        made.forget(b"%010d" % number)
    reactor.pass_time(FORGET_SECONDS)
    assert passer.read() == [(0, numbers(*range(MAX_FORGOTTEN)))]
    reactor.pass_time(FORGET_SECONDS)
    assert (passer.read(), reactor.due) == ([(0, numbers(MAX_FORGOTTEN))], [])


def test_a_process_that_does_not_read_is_told_later(passing: tuple[DescriptorPassing, Passer, Any]) -> None:
    made, passer, reactor = passing
    sent = 0
    while reactor.due in ([], [FORGET_SECONDS]) and sent < 10_000:
        before, sent = sent, sent + 1
        made.forget(b"%010d" % sent)
        reactor.pass_time(FORGET_SECONDS)
        if reactor.due:
            break
    assert before < sent < 10_000
    assert reactor.due == [FORGET_SECONDS]
    told = [number for _, found in passer.read()[1:] for number in found]
    reactor.pass_time(FORGET_SECONDS)
    told += [number for _, found in passer.read() for number in found]
    assert (told, reactor.due) == (numbers(*range(1, sent + 1)), [])
    passer.close()
    made.forget(b"0000000001")
    reactor.pass_time(FORGET_SECONDS)
    assert reactor.due == []


@pytest.mark.parametrize(("rooms", "sent", "due"), [(0, [], [RETRY_SECONDS]), (1, [(1, numbers(5))], [])])
def test_without_room_for_all_sets_one_is_sent(
    context: Any, rooms: int, sent: list[Any], due: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    real = fork_server.CallDescriptors.open

    def limited(ends: Any) -> None:
        opened.append(1)
        if len(opened) == 4 or (rooms == 0 and len(opened) == 5):
            raise OSError(EMFILE, "no")
        real(ends)

    with monkeypatch.context() as patch:
        patch.setattr(fork_server.CallDescriptors, "open", limited)
        made = DescriptorPassing(context, {}, lambda status, problem: None)
    passer = Passer(context.supervisor.children[0])
    assert (passer.read(), context.reactor.due) == (sent, due)
    context.reactor.pass_time(RETRY_SECONDS)
    assert [count for count, _ in passer.read()] == ([4] if rooms == 0 else [])
    made.close()
    context.reactor.pass_time(10)
    passer.close()


def test_a_lost_connection_closes_all_sets(passing: tuple[DescriptorPassing, Passer, Any]) -> None:
    made, passer, reactor = passing
    passer.read()
    passer.answer(*numbers(1, 2))
    reactor.ready_for(READABLE)
    taken = made.take()
    made.forget(taken.number)
    passer.close()
    reactor.ready_for(READABLE)
    assert (made.is_ready, reactor.watched) == (False, {})
    reactor.pass_time(10)
    assert (reactor.due, len(taken.shell_ends)) == ([], 5)
    taken.close()


def test_a_process_that_cannot_be_started_leaves_nothing_open(context: Any) -> None:
    context.supervisor.problems.append(OSError(EMFILE, "no"))
    with pytest.raises(OSError, match="no"):
        DescriptorPassing(context, {}, lambda status, problem: None)
    assert context.reactor.watched == {}


class Forked:
    """A runner whose fork server and passing process are played by the test."""

    def __init__(self, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.context, self.reactor, self.supervisor = context, context.reactor, context.supervisor
        self.killed: list[tuple[int, int]] = []
        monkeypatch.setattr(runner_module, "system_features", SimpleNamespace(has=lambda name: True))
        monkeypatch.setattr(fork_server, "signal_group", lambda *words: self.killed.append(words))
        for module in (runner_module, fork_server):
            monkeypatch.setattr(module, "monotonic", lambda: self.reactor.now)
        self.programs = SimpleNamespace(
            name="a.sh", program=lambda name: f"run {name}", environment=lambda number: {b"N": b"%d" % number},
            texts=lambda part=b"": [b"prelude"],
        )  # fmt: skip
        self.runner = ShellRunner(context, self.programs)
        self.done: dict[str, ProcessResult] = {}
        self.passers: list[Passer] = []

    def start(self, name: str, **options: Any) -> Any:
        call = ShellCall("lib/a.sh", name, b"{}", 3)
        for key, value in options.items():
            setattr(call, key, value)
        return self.runner.start(call, lambda result: self.done.__setitem__(name, result), pytest.fail)

    def serve(self) -> tuple[FakeChild, Passer]:
        """Return the newest fork server, its passing process connected and its sets ready."""
        passing, server = self.supervisor.children[-2:]
        passer = Passer(passing)
        self.passers.append(passer)
        self.fill(passer)
        return server, passer

    def fill(self, passer: Passer) -> None:
        """Have the passing process take and announce new sets."""
        known = set(passer.held)
        passer.read()
        if set(passer.held) - known:
            passer.answer(*sorted(set(passer.held) - known))
            self.reactor.ready_for(READABLE)

    def lines(self, server: FakeChild) -> list[bytes]:
        """Take the lines about calls, as children do."""
        os.set_blocking(server.ends[5], False)
        try:
            data = os.read(server.ends[5], 1 << 16)
        except BlockingIOError:
            return []
        return [data[at : at + LINE_LENGTH] for at in range(0, len(data), LINE_LENGTH)]

    def close(self) -> None:
        for passer in self.passers:
            passer.close()
        self.runner.close()


@pytest.fixture
def forked(context: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forked]:
    made = Forked(context, monkeypatch)
    yield made
    made.close()
    made.supervisor.close()
    for job in JOBS:
        job.release()
    JOBS.clear()
    assert made.reactor.watched == {}


JOBS: list[Any] = []
"""The jobs of a test, which are let go at its end."""


def begin(forked: Forked, *names: str, **options: Any) -> list[Any]:
    jobs = [forked.start(name, **options) for name in names]
    JOBS.extend(jobs)
    return jobs


def test_a_fork_server_is_started_by_the_first_call(forked: Forked) -> None:
    (job,) = begin(forked, "one", traps=True, errexit="f", variables={"v": b"x"})
    server, _ = forked.serve()
    assert server.argv == ["bash", "--norc", "--noprofile", "-c", "run forkserver.bash", "a.sh"]
    mark = server.environment.pop(b"MCPC_CALL")
    assert (mark.partition(b".")[0], server.environment) == (b"%d" % os.getpid(), {b"N": b"3"})
    assert (sorted(server.ends), os.pread(server.ends[3], 100, 0)) == ([3, 4, 5, 6], b"prelude\0")
    assert os.read(server.ends[4], 10) == b".."  # a spare child, and one for the call
    (line,) = forked.lines(server)
    assert (line[:10], job.number) == (b"0000000002", 2)
    text = os.pread(job.shell_ends[3], 1000, 0)
    assert text == b"0000000002\0" + job.mark.encode() + b"\0one\0{}\0tf\0v\0=\0x\0"
    (other,) = begin(forked, "two")
    assert os.pread(other.shell_ends[3], 1000, 0).endswith(b"\0two\0{}\0\0")
    assert len(forked.supervisor.children) == 2


def test_a_call_that_was_begun_waits_no_longer(forked: Forked) -> None:
    (job,) = begin(forked, "one")
    server, passer = forked.serve()
    notes = os.dup(job.shell_ends[7])
    os.write(notes, b"pid 4711\nend 3\n")
    forked.reactor.ready_for(READABLE)
    forked.reactor.pass_time(FORGET_SECONDS)
    assert [found for _, found in passer.read()][-1][-1:] == numbers(1)
    os.close(notes)
    forked.reactor.ready_for(READABLE)
    assert forked.done["one"].status == 3
    forked.reactor.pass_time(100)
    assert (forked.killed, forked.supervisor.told) == ([], [])
    server.die()


def test_a_call_that_was_stopped_before_it_began_is_ended_when_it_begins(forked: Forked) -> None:
    (job,) = begin(forked, "one")
    forked.serve()
    forked.runner.stop(job)
    assert os.fstat(job.shell_ends[3]).st_size == runner_module.NUMBER_LENGTH
    os.write(job.shell_ends[7], b"pid 4711\n")
    forked.reactor.ready_for(READABLE)
    assert (forked.supervisor.told, forked.done) == ([("end", 4711, job.mark)], {})


@pytest.mark.parametrize(
    ("said", "seconds"), [(b"ready\n", BEGIN_SECONDS), (b"", READ_SECONDS), (b"failed\n", READ_SECONDS)]
)
def test_a_server_that_begins_nothing_in_time_is_lost(forked: Forked, said: bytes, seconds: float) -> None:
    begin(forked, "one")
    server, _ = forked.serve()
    os.write(server.ends[6], said)
    if said:
        forked.reactor.ready_for(READABLE)
    assert forked.reactor.due[-1] == CHECK_SECONDS
    forked.reactor.pass_time(seconds - CHECK_SECONDS)
    assert forked.killed == []
    forked.reactor.pass_time(CHECK_SECONDS)
    assert forked.killed == [(server.pid, SIGKILL)]
    fresh = forked.supervisor.children[-1]
    assert (fresh.argv[6], len(forked.supervisor.children)) == ("one", 3)
    server.die()
    assert len(forked.supervisor.children) == 3
    fresh.die(5)
    assert forked.done["one"].status == 5


def test_each_begun_call_is_progress(forked: Forked) -> None:
    first, _ = begin(forked, "one", "two")
    server, _ = forked.serve()
    os.write(server.ends[6], b"ready\n")
    forked.reactor.ready_for(READABLE)
    forked.reactor.pass_time(BEGIN_SECONDS - CHECK_SECONDS)
    os.write(first.shell_ends[7], b"pid 4711\n")
    forked.reactor.ready_for(READABLE)
    forked.reactor.pass_time(BEGIN_SECONDS - CHECK_SECONDS)
    assert forked.killed == []
    forked.reactor.pass_time(CHECK_SECONDS)
    assert forked.killed == [(server.pid, SIGKILL)]


def test_a_server_that_has_no_process_yet_is_ended_by_its_mark(forked: Forked) -> None:
    begin(forked, "one")
    server, _ = forked.serve()
    mark, server.pid = server.environment[b"MCPC_CALL"].decode(), 0
    forked.reactor.pass_time(READ_SECONDS)
    assert (forked.killed, forked.supervisor.told) == ([], [("end", 0, mark)])


def test_calls_of_a_lost_server_run_elsewhere_once(forked: Forked) -> None:
    taken, begun, untaken = begin(forked, "taken", "begun", "untaken")
    server, _ = forked.serve()
    os.write(server.ends[6], b"ready\n")
    forked.reactor.ready_for(READABLE)
    for _ in range(2):
        os.read(server.ends[5], LINE_LENGTH)
    texts = {job: os.dup(job.shell_ends[3]) for job in (taken, begun)}
    server.die(1)

    def fresh() -> list[str]:
        return [child.argv[6] for child in forked.supervisor.children[2:]]

    assert fresh() == ["untaken"]
    assert [os.fstat(file).st_size for file in texts.values()] == [0, 0]
    forked.reactor.pass_time(LATE_SECONDS - 0.01)
    os.write(begun.shell_ends[7], b"pid 4711\n")
    forked.reactor.ready_for(READABLE)
    assert fresh() == ["untaken"]
    forked.reactor.pass_time(0.01)
    assert fresh() == ["untaken", "taken"]  # in a shell of its own, because it is connected
    assert os.pread(forked.supervisor.children[-1].ends[3], 100, 0) == b"prelude\0{}\0"
    for file in texts.values():
        os.close(file)
    assert untaken.child is forked.supervisor.children[2]


def test_fresh_shells_are_used_for_a_while_after_a_failed_start(forked: Forked) -> None:
    begin(forked, "one")
    server, _ = forked.serve()
    server.die(1)
    assert forked.supervisor.children[-1].argv[6] == "one"
    forked.reactor.pass_time(FRESH_SHELL_SECONDS - 0.01)
    begin(forked, "two")
    assert forked.supervisor.children[-1].argv[6] == "two"
    forked.reactor.pass_time(0.01)
    begin(forked, "three")
    assert forked.supervisor.children[-1].argv[4] == "run forkserver.bash"


def test_a_full_server_has_a_queue(forked: Forked) -> None:
    first = begin(forked, "one")
    server, passer = forked.serve()
    names = [f"n{number}" for number in range(MAX_WAITING + 2)]
    jobs = first + begin(forked, *names)
    while True:
        held = len(passer.held)
        forked.reactor.pass_time(FILL_SECONDS)
        forked.fill(passer)
        if len(passer.held) == held:
            break
    lines = forked.lines(server)
    assert len(lines) == MAX_WAITING
    jobs[-2].done = None
    os.write(jobs[0].shell_ends[7], b"pid 4711\n")
    forked.reactor.ready_for(READABLE)
    (line,) = forked.lines(server)
    assert int(line[:10]) == jobs[MAX_WAITING].number
    os.write(jobs[1].shell_ends[7], b"pid 4712\n")
    forked.reactor.ready_for(READABLE)
    (line,) = forked.lines(server)
    assert int(line[:10]) == jobs[-1].number
    del jobs


def test_a_fork_server_that_was_started_in_part_is_never_lost(forked: Forked) -> None:
    """The process that passes descriptors runs already when there is no room for the other one."""
    forked.supervisor.problems += [None, OSError(EMFILE, "no room")]
    with pytest.raises(OSError, match="no room"):
        begin(forked, "one")
    assert forked.reactor.watched == {}
    forked.supervisor.children[0].die()
    assert (len(forked.supervisor.children), forked.done) == (1, {})
    begin(forked, "two")
    assert forked.supervisor.children[-1].argv[4] == "run forkserver.bash"


def test_a_call_that_cannot_be_written_is_let_go(forked: Forked, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(forked, "one")
    server, passer = forked.serve()
    forked.lines(server)
    real = fork_server.system.write

    def write(descriptor: int, data: bytes) -> int:
        if len(data) == LINE_LENGTH:
            raise OSError(EMFILE, "no room")
        return real(descriptor, data)

    monkeypatch.setattr(fork_server.system, "write", write)
    with pytest.raises(OSError, match="no room"):
        begin(forked, "two")
    forked.reactor.pass_time(FORGET_SECONDS)
    assert [found[count:] for count, found in passer.read() if found[count:]] == [numbers(2)]
