"""The server's side of a worker: what it sends and when, and that each call is completed or given back exactly once."""

import json
import marshal
import os
import select
import sys
from collections.abc import Callable, Iterator
from errno import EMFILE, EPIPE
from typing import Any

import pytest

from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.handlers.python.worker import client
from mcpc_runtime.handlers.python.worker.client import WorkerJob, WorkerProcess
from mcpc_runtime.handlers.python.worker.frames import (
    FRAME_LIMIT,
    FULL,
    RETRY,
    DatagramSender,
    StreamSender,
    read_exactly,
)
from mcpc_runtime.transports.platforms import artifact_file
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE
from support.fake_runtime import FakeChild, fake_context

KINDS: dict[str, Callable[[], DatagramSender | StreamSender]] = {"datagrams": DatagramSender, "stream": StreamSender}
MARK = "1.w0-1"
CALLS, REPLIES, CONTROL = 3, 4, 5
LARGE = b"x" * (1 << 21)


class Owner:
    """A pool that records what it is told."""

    def __init__(self) -> None:
        self.context = fake_context()
        self.leaving: set[Any] = set()
        self.failed_starts = 2
        self.told: list[Any] = []

    def assign(self, jobs: Any) -> None:
        self.told.append(("assign", [(job.body, job.worker) for job in jobs]))

    def retire(self, worker: Any) -> None:
        self.told.append("retire")

    def note_recovery(self) -> None:
        self.told.append("recovery")

    def note_end(self, worker: Any, unbegun: list[WorkerJob], reason: str) -> None:
        self.told.append(("end", [(job.body, job.worker) for job in unbegun], reason))


class Pair:
    """A worker's client, and its process, which is played by the test."""

    def __init__(self) -> None:
        self.owner = Owner()
        self.reactor, self.supervisor = self.owner.context.reactor, self.owner.context.supervisor
        self.worker: Any = WorkerProcess(self.owner, MARK, {b"A": b"1"})
        self.child: FakeChild = self.supervisor.children[0]
        (self.replies,) = self.reactor.waiting(READABLE)
        self.done: list[tuple[bytes, FunctionResult]] = []
        self.notes: list[Any] = []

    def give(self, body: bytes) -> WorkerJob:
        job = WorkerJob(body, lambda result: self.done.append((body, result)), self.notes.append)
        self.worker.give(job)
        return job

    def reply(self, *frames: Any) -> None:
        """Send frames from the worker, and let the client read them."""
        for frame in frames:
            data = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
            os.write(self.child.ends[REPLIES], len(data).to_bytes(4, "little") + data)
        self.reactor.ready(self.replies)

    def control(self) -> Any:
        """The next control message."""
        end = self.child.ends[CONTROL]
        head = read_exactly(end, 4)
        assert head is not None
        return marshal.loads(read_exactly(end, int.from_bytes(head, "little")) or b"")

    def endings(self) -> list[tuple[Any, ...]]:
        return [(body, each.value, each.problem, each.refused, each.raised) for body, each in self.done]


@pytest.fixture(params=KINDS)
def pair(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setattr(client, "make_sender", KINDS[request.param])
    before = set(os.listdir("/dev/fd"))
    made = Pair()
    yield made
    made.worker.close()
    made.worker.close()
    made.supervisor.close()
    assert made.reactor.watched == {}
    assert set(os.listdir("/dev/fd")) == before


def only(kind: str) -> Any:
    return pytest.mark.parametrize("pair", [kind], indirect=True)


def test_the_process_is_started_with_its_descriptors(pair: Pair, request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["pair"]
    interpreter = [sys.executable, "-I", "-S", "-c", client.BOOT]
    assert (pair.child.argv, pair.child.environment) == (
        [*interpreter, "/archive", kind, ""],
        {b"A": b"1", b"MCPC_CALL": MARK.encode()},
    )
    assert sorted(pair.child.ends) == [CALLS, REPLIES, CONTROL]
    pair.child.close(REPLIES)
    assert os.read(pair.replies, 10) == b""  # nobody else holds its end
    assert (pair.worker.ready, pair.worker.stuck, pair.worker.ending) == (False, False, False)


def test_an_archive_without_a_name_is_passed_with_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(__file__, "rb") as file:
        archive = f"/proc/{os.getpid()}/fd/{file.fileno()}"
        monkeypatch.setattr(artifact_file, "watched", {archive: artifact_file.file_state(archive)})
        monkeypatch.setattr(client, "watched", artifact_file.watched)
        owner = Owner()
        owner.context.image.archive = archive
        worker: Any = WorkerProcess(owner, MARK, {})
        child = owner.context.supervisor.children[0]
        status = os.stat(__file__)
        known = [str(number) for number in (status.st_ino, status.st_size, status.st_mtime_ns)]
        assert (child.argv[5], child.argv[7:]) == ("/proc/self/fd/6", ["", *known])
        assert os.path.samestat(os.fstat(child.ends[6]), status)
        monkeypatch.setitem(artifact_file.watched, archive, (1, 2, 3))
        before = os.listdir("/dev/fd")
        with pytest.raises(artifact_file.FileChangedError):
            WorkerProcess(owner, MARK, {})
        assert os.listdir("/dev/fd") == before
        worker.close()
        child.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_that_cannot_be_started_leaves_nothing_open(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "make_sender", KINDS[kind])
    owner = Owner()
    owner.context.supervisor.problems.append(OSError(EMFILE, "no"))
    before = os.listdir("/dev/fd")
    with pytest.raises(OSError, match="no"):
        WorkerProcess(owner, MARK, {})
    assert (os.listdir("/dev/fd"), owner.context.reactor.watched) == (before, {})


ENDS: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    ({"value": {"a": [1, None]}}, ({"a": [1, None]}, "", "", None)),
    ({"error": "ValueError: x"}, (None, "ValueError: x", "", None)),
    ({"refused": "a: no number"}, (None, "", "a: no number", None)),
    ({"raised": {"code": 1, "message": "m"}}, (None, "", "", {"code": 1, "message": "m"})),
    ({"raised": "m"}, (None, "", "", None)),
]


@pytest.mark.parametrize(("frame", "ending"), ENDS)
@only("datagrams")
def test_a_result_ends_its_call_once(pair: Pair, frame: dict[str, Any], ending: tuple[Any, ...]) -> None:
    first, second = pair.give(b"one"), pair.give(b"two")
    assert [(job.number, job.worker, job.body) for job in (first, second)] == [
        (1, pair.worker, b""),
        (2, pair.worker, b""),
    ]
    assert pair.reactor.expected == 1
    pair.reply({"call": 2, **frame}, {"call": 2, "value": "again"}, {"call": 9, "value": 1})
    assert pair.endings() == [(b"two", *ending)]
    pair.reply({"call": 1, "value": None})
    pair.give(b"three")
    assert (pair.endings()[1:], pair.reactor.expected) == ([(b"one", None, "", "", None)], 2)


def test_a_job_is_finished_once() -> None:
    done: list[FunctionResult] = []
    job = WorkerJob(b"", done.append, print)
    job.finish(FunctionResult(1))
    job.finish(FunctionResult(2))
    assert [each.value for each in done] == [1]


@only("datagrams")
def test_notes_go_to_a_call_that_is_waited_for(pair: Pair) -> None:
    job = pair.give(b"one")
    pair.reply({"call": 1, "note": {"log": "x"}}, {"call": 1, "note": "text"}, {"call": 2, "note": {}})
    job.done = None
    pair.reply({"call": 1, "note": {"late": 1}})
    assert (pair.notes, pair.done, pair.owner.told) == ([{"log": "x"}], [], [])


@only("datagrams")
def test_a_worker_that_says_it_is_ready_has_started(pair: Pair) -> None:
    pair.reply({"alive": True}, {"call": "1", "begun": "1"})
    assert (pair.worker.ready, pair.owner.failed_starts) == (False, 2)
    pair.reply({"ready": True})
    assert (pair.worker.ready, pair.owner.failed_starts) == (True, 0)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", (FRAME_LIMIT + 1).to_bytes(4, "little")], ids=repr)
@pytest.mark.parametrize("is_ready", [False, True])
@only("datagrams")
def test_what_is_no_frame_ends_the_worker(pair: Pair, data: bytes, is_ready: bool) -> None:
    pair.give(b"one")
    if is_ready:
        pair.reply({"ready": True})
    if not data:
        pair.child.close(REPLIES)
    elif len(data) == 4:
        os.write(pair.child.ends[REPLIES], data)
    if data and len(data) < 4:
        pair.reply({"call": 1, "note": {"n": 1}}, data, {"call": 1, "value": "unread"})
        assert pair.notes == [{"n": 1}]
    else:
        pair.reactor.ready(pair.replies)
    assert pair.owner.told == (["retire"] if is_ready else [])
    assert pair.supervisor.told == [("end", pair.child.pid, MARK)]
    assert (pair.replies in pair.reactor.watched, pair.done, pair.worker.ending) == (False, [], is_ready)


@only("datagrams")
def test_a_frame_may_come_in_pieces(pair: Pair) -> None:
    pair.give(b"one")
    data = json.dumps({"call": 1, "value": "x" * 200_000}).encode()
    data = len(data).to_bytes(4, "little") + data
    for at in range(0, len(data), 50_000):
        os.write(pair.child.ends[REPLIES], data[at : at + 50_000])
        assert pair.done == []
        pair.reactor.ready(pair.replies)
    pair.reactor.ready(pair.replies)  # nothing is there
    assert pair.endings() == [(b"one", "x" * 200_000, "", "", None)]


def sent(pair: Pair) -> list[tuple[int, bytes]]:
    """The calls that the worker can read now, which begins them."""
    return pair.worker._line.take_back()  # type: ignore[no-any-return]


def test_calls_that_are_not_begun_in_time_are_given_to_another(pair: Pair) -> None:
    pair.give(b"one")
    late = pair.give(b"two")
    pair.give(b"three")
    late.done = None
    assert pair.reactor.due == [client.BEGIN_SECONDS]
    pair.reactor.pass_time(client.BEGIN_SECONDS)
    assert pair.owner.told == []  # it has not started yet
    pair.reply({"ready": True})
    pair.reactor.pass_time(client.BEGIN_SECONDS)
    assert pair.owner.told == []  # it has just sent something
    pair.reactor.pass_time(client.BEGIN_SECONDS)
    assert (pair.owner.told, pair.worker.stuck) == ([("assign", [(b"one", None), (b"three", None)])], True)
    pair.reactor.pass_time(10)
    assert (len(pair.owner.told), pair.reactor.due) == (1, [])
    pair.reply({"alive": True}, {"alive": True})
    assert (pair.owner.told[1:], pair.worker.stuck) == (["recovery"], False)
    pair.reply({"call": 1, "value": 1})
    assert pair.done == []


def test_a_worker_that_sends_anything_is_not_stuck(pair: Pair) -> None:
    pair.reply({"ready": True})
    pair.give(b"one")
    pair.reply({"alive": True})
    pair.reactor.pass_time(client.BEGIN_SECONDS)
    assert (pair.owner.told, pair.worker.stuck, pair.reactor.due) == ([], False, [client.BEGIN_SECONDS])
    sent(pair)
    pair.reactor.pass_time(client.BEGIN_SECONDS)
    assert (pair.owner.told, pair.worker.stuck, pair.reactor.due) == ([], False, [])
    pair.give(b"two")
    assert pair.reactor.due == [client.BEGIN_SECONDS]
    pair.worker.close()
    pair.reactor.pass_time(10)
    assert (pair.owner.told, pair.reactor.due) == ([], [])


def test_a_stuck_worker_takes_back_only_once_until_it_responds(pair: Pair) -> None:
    pair.reply({"ready": True})
    pair.give(b"one")
    pair.reactor.pass_time(client.BEGIN_SECONDS)
    pair.give(b"two")
    pair.reactor.pass_time(3 * client.BEGIN_SECONDS)
    assert pair.owner.told == [("assign", [(b"one", None)])]
    assert [job.body for job in pair.worker.take_back()] == [b"two"]
    assert pair.worker.take_back() == []


@only("stream")
def test_a_stream_has_one_call_and_the_next_when_it_was_begun(pair: Pair) -> None:
    first, second, third = (pair.give(body) for body in (b"one", LARGE, b"three"))
    (head, body), rest = (read_exactly(pair.child.ends[CALLS], 12), read_exactly(pair.child.ends[CALLS], 3)), []
    assert (int.from_bytes(head[4:], "little"), body, second.body, third.body) == (1, b"one", LARGE, b"three")
    assert pair.reactor.waiting(WRITABLE) == set()
    pair.reply({"begun": 1})
    (calls,) = pair.reactor.waiting(WRITABLE)
    assert (first.body, second.body, third.body) == (b"", b"", b"three")
    while sum(map(len, rest)) < 12 + len(LARGE):
        rest.append(os.read(pair.child.ends[CALLS], 1 << 20))
        if calls in pair.reactor.watched:
            pair.reactor.ready(calls)
    assert b"".join(rest)[12:] == LARGE
    assert pair.reactor.waiting(WRITABLE) == set()
    pair.reply({"begun": 2})
    assert third.body == b""


class Scripted(DatagramSender):
    """A line whose outcomes the test decides, before it sends."""

    outcomes: list[int | OSError]

    def put(self, number: int, body: bytes) -> int:
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, OSError):
            raise outcome
        return super().put(number, body) if outcome is None else outcome


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Pair]]:
    made: list[Pair] = []

    def make(*outcomes: int | OSError) -> Pair:
        monkeypatch.setattr(client, "make_sender", Scripted)
        Scripted.outcomes = list(outcomes)
        made.append(Pair())
        return made[-1]

    yield make
    for each in made:
        each.worker.close()
        each.supervisor.close()


def test_a_full_line_is_written_when_there_is_room(scripted: Callable[..., Pair]) -> None:
    pair = scripted(FULL, FULL)
    jobs = [pair.give(b"one"), pair.give(b"two")]
    (line,) = pair.reactor.waiting(WRITABLE)
    assert ([job.body for job in jobs], pair.reactor.due) == ([b"one", b"two"], [])
    pair.reactor.ready(line)
    assert ([job.body for job in jobs], pair.reactor.waiting(WRITABLE)) == ([b"", b""], set())
    assert sent(pair) == [(1, b"one"), (2, b"two")]


def test_a_system_without_room_is_tried_again(scripted: Callable[..., Pair]) -> None:
    pair = scripted(RETRY, RETRY)
    pair.give(b"one")
    assert (pair.reactor.waiting(WRITABLE), pair.reactor.due) == (set(), [client.RETRY_SECONDS])
    pair.reactor.pass_time(client.RETRY_SECONDS)
    assert (pair.reactor.due, sent(pair)) == ([client.RETRY_SECONDS], [])
    pair.reactor.pass_time(client.RETRY_SECONDS)
    assert sent(pair) == [(1, b"one")]


def test_a_call_that_cannot_be_sent_fails_alone(scripted: Callable[..., Pair]) -> None:
    pair = scripted(OSError(EPIPE, "Broken pipe"))
    failed = pair.give(b"one")
    pair.give(b"two")
    reason = "the call could not be sent to the handler's process: Broken pipe"
    assert (pair.endings(), sent(pair)) == ([(b"one", None, reason, "", None)], [(2, b"two")])
    assert pair.reactor.due == [client.BEGIN_SECONDS]
    pair.reply({"call": 1, "value": 1})
    pair.worker.stop(failed)
    assert (len(pair.done), pair.reactor.due) == (1, [client.BEGIN_SECONDS])


def test_a_waiting_call_that_is_stopped_is_never_sent(scripted: Callable[..., Pair]) -> None:
    pair = scripted(FULL, FULL)
    first, second = pair.give(b"one"), pair.give(b"two")
    first.done = None
    pair.worker.stop(first)
    assert pair.reactor.due == []
    pair.reactor.ready_for(WRITABLE)
    assert (sent(pair), second.body, pair.done) == ([(2, b"two")], b"", [])


@only("datagrams")
def test_a_stopped_call_is_cancelled_and_the_worker_asked_whether_it_lives(pair: Pair) -> None:
    job, other = pair.give(b"one"), pair.give(b"two")
    sent(pair)
    job.done = None
    pair.worker.stop(job)
    assert pair.control() == ("cancel", 1)
    assert client.STOP_SECONDS in pair.reactor.due
    pair.reply({"call": 1, "error": "Cancelled"})
    pair.reactor.pass_time(client.STOP_SECONDS)
    assert (pair.control(), pair.owner.told, pair.reactor.due) == (("alive", 0), [], [client.ALIVE_SECONDS])
    pair.reply({"alive": True})
    pair.reactor.pass_time(client.ALIVE_SECONDS)
    assert (pair.supervisor.told, pair.worker.ending, pair.done) == ([], False, [])
    pair.worker.stop(job)  # it is over
    assert pair.reactor.due == []
    other.done = None
    pair.worker.stop(other)
    assert pair.control() == ("cancel", 2)
    pair.reactor.pass_time(client.STOP_SECONDS)
    assert (pair.control(), pair.owner.told) == (("alive", 0), ["retire"])
    pair.reactor.pass_time(client.ALIVE_SECONDS)
    assert (pair.supervisor.told, pair.worker.ending) == ([("end", pair.child.pid, MARK)], True)
    assert pair.replies not in pair.reactor.watched
    pair.owner.leaving.add(pair.worker)
    pair.worker.leave_if_idle()
    assert len(pair.supervisor.told) == 1


@pytest.mark.parametrize("is_closed", [False, True])
@only("datagrams")
def test_a_worker_that_is_ended_or_closed_is_asked_nothing(pair: Pair, is_closed: bool) -> None:
    job = pair.give(b"one")
    job.done = None
    pair.worker.stop(job)
    pair.owner.leaving.add(pair.worker)
    pair.worker.leave_if_idle()
    told = list(pair.supervisor.told)
    if is_closed:
        pair.worker.close()
    pair.reactor.pass_time(client.STOP_SECONDS)
    assert pair.owner.told == ([] if is_closed else ["retire"])
    assert (pair.control(), pair.supervisor.told) == (("cancel", 1), told)
    assert pair.reactor.due == ([] if is_closed else [client.BEGIN_SECONDS])
    readable, _, _ = select.select([pair.child.ends[CONTROL]], [], [], 0)
    assert readable == ([pair.child.ends[CONTROL]] if is_closed else [])  # where it reads the end


@only("datagrams")
def test_a_retired_worker_is_ended_when_nobody_waits_for_it(pair: Pair) -> None:
    first, second = pair.give(b"one"), pair.give(b"two")
    pair.worker.leave_if_idle()
    pair.owner.leaving.add(pair.worker)
    pair.worker.leave_if_idle()
    pair.reply({"call": 1, "value": 1})
    assert pair.supervisor.told == []
    second.done = None
    pair.worker.stop(second)
    assert (pair.supervisor.told, first.done) == ([("end", pair.child.pid, MARK)], None)


@only("datagrams")
def test_a_retired_worker_is_ended_after_its_last_result(pair: Pair) -> None:
    pair.give(b"one")
    pair.owner.leaving.add(pair.worker)
    pair.reply({"call": 1, "value": 1})
    assert pair.supervisor.told == [("end", pair.child.pid, MARK)]


@pytest.mark.parametrize("frame", [b'{"call":1,"note":{}}', b"no frame"])
@only("datagrams")
def test_nothing_is_heard_after_a_note_that_closed_the_worker(pair: Pair, frame: bytes) -> None:
    job = WorkerJob(b"one", pytest.fail, lambda note: pair.worker.close())
    pair.worker.give(job)
    pair.reply({"call": 1, "note": {}}, frame)
    assert (pair.owner.told, pair.supervisor.told) == ([], [])


@only("stream")
def test_a_call_that_was_taken_back_is_not_failed_with_its_worker(pair: Pair) -> None:
    pair.give(b"one")
    pair.give(b"two")
    assert [job.body for job in pair.worker.take_back()] == [b"one", b"two"]
    pair.child.die(1)
    assert (pair.done, pair.owner.told) == ([], [("end", [], "it exited with status 1")])


@only("datagrams")
def test_control_messages_wait_for_room_in_order(pair: Pair) -> None:
    for number in range(20):
        pair.worker.send_control(("answer", number, "x" * 9000))
    (end,) = pair.reactor.waiting(WRITABLE)
    read = []
    for _ in range(20):
        if end in pair.reactor.watched:
            pair.reactor.ready(end)
        read.append(pair.control())
    assert read == [("answer", number, "x" * 9000) for number in range(20)]
    assert end not in pair.reactor.watched


@only("datagrams")
def test_control_messages_to_a_worker_that_has_gone_are_dropped(pair: Pair) -> None:
    pair.child.close(CONTROL)
    pair.worker.send_control(("cancel", 1))
    pair.worker.close()
    pair.worker.send_control(("cancel", 2))
    assert pair.reactor.watched == {}


@pytest.mark.parametrize(
    ("status", "problem", "reason"),
    [
        (0, "", " exited with status 0"),
        (3, "", " exited with status 3"),
        (-9, "", " was killed by signal 9"),
        (1, "it could not be started: no", " could not be started: no"),
    ],
)
def test_the_end_of_a_worker_fails_what_ran_and_gives_back_the_rest(
    pair: Pair, status: int, problem: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "READ_SIZE", 5)
    pair.give(b"one")
    if isinstance(pair.worker._line, StreamSender):
        read_exactly(pair.child.ends[CALLS], 15)
        pair.reply({"begun": 1})
    else:
        sent(pair)
    pair.give(b"two")
    stopped, answered = pair.give(b"three"), pair.give(b"four")
    stopped.done = None
    os.write(pair.child.ends[REPLIES], b"\x15\0\0\0" + b'{"call":4,"value":4} ' + b"\x09\0\0\0{")
    pair.child.die(status, problem)
    unbegun = [(b"two", None)]
    assert (pair.owner.told, answered.done) == ([("end", unbegun, f"it{reason}")], None)
    assert sorted(pair.endings()) == [
        (b"four", 4, "", "", None),
        (b"one", None, f"the handler's process{reason}", "", None),
    ]
    assert (pair.supervisor.told, pair.reactor.watched) == ([("end", 0, MARK)], {})
    pair.child.ended(status, problem)
    assert len(pair.owner.told) == 1


@only("datagrams")
def test_a_worker_that_was_closed_has_no_end(pair: Pair) -> None:
    pair.give(b"one")
    pair.worker.close()
    pair.give(b"two")
    pair.child.die(1)
    assert (pair.owner.told, pair.done, pair.supervisor.told) == ([], [], [])
