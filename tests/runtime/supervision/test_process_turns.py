"""The supervisor process, in this process: its messages, its retries and its end, with programs that the test starts."""

import _socket
import os
from collections.abc import Iterator
from errno import EAGAIN, EMFILE, ENOENT
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any

import pytest

from mcpc_runtime.transports.platforms.posix.supervision import process
from mcpc_runtime.transports.platforms.posix.supervision.process import (
    GIVE_UP_SECONDS,
    GRACE_SECONDS,
    LAST_GRACE_SECONDS,
    LEAVE_SECONDS,
    MAX_WAITING,
    RETRY_SECONDS,
    START_SECONDS,
    SupervisorProcess,
)
from mcpc_runtime.transports.platforms.posix.supervision.wire import MISSING, DescriptorSocket


class Groups:
    """Records what is signalled; `calls` and `rounds`: how often there still are processes."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.calls = self.rounds = 0
        self.left: set[int] = set()

    def prepare(self) -> None:
        self.told.append("prepare")

    def begin(self, pid: int, environment: Any) -> None:
        self.told.append(("begin", pid, environment))

    @staticmethod
    def call_mark_in(environment: Any) -> bytes:
        mark: bytes = environment.get(b"MCPC_CALL", b"")
        return mark

    def reaped(self, pid: int) -> bool:
        return pid in self.left

    def signal_calls(self, endings: Any, number: int) -> list[Any]:
        self.told.append((number, [(each.pid, each.mark) for each in endings]))
        self.calls -= 1
        return endings[:1] if self.calls > 0 else []

    def signal_all(self, number: int) -> None:
        self.told.append(("all", number))

    def is_any_left(self) -> bool:
        self.rounds -= 1
        return self.rounds >= 0


class Played:
    """The supervisor and the server's end of its socket, with a clock and children of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.ended: list[tuple[int, int]] = []
        self.has_children = False
        self.problems: list[BaseException] = []
        self.started: list[tuple[Any, ...]] = []
        self.polled: list[Any] = []
        ours, theirs = _socket.socketpair()
        self.wire = DescriptorSocket(ours)
        self.wake, self.woken = os.pipe()
        os.set_blocking(self.wake, False)
        self.groups = Groups()
        monkeypatch.setattr(process, "monotonic", lambda: self.now)
        monkeypatch.setattr(process, "poll", lambda: Poll(self))
        monkeypatch.setattr(process, "start_program", self.start)
        monkeypatch.setattr(process.posix, "waitpid", self.wait)
        self.socket, self.theirs = theirs, DescriptorSocket(theirs)
        groups: Any = self.groups
        self.supervisor = SupervisorProcess(self.theirs, self.wake, groups)

    def start(self, argv: list[str], environment: Any, descriptors: dict[int, int], directory: str) -> int:
        if self.problems:
            raise self.problems.pop(0)
        assert all(os.fstat(number) for number in descriptors.values())
        self.started.append((argv, environment, sorted(descriptors), directory))
        return 100 + len(self.started)

    def wait(self, pid: int, options: int) -> tuple[int, int]:
        if self.ended:
            return self.ended.pop(0)
        if self.has_children:
            return 0, 0
        raise ChildProcessError

    def spawn(self, number: int, *descriptors: int, argv: tuple[str, ...] = ("true",), mark: bytes = b"") -> None:
        environment = {b"MCPC_CALL": mark} if mark else {}
        message = ("spawn", number, list(argv), environment, tuple(range(3, 3 + len(descriptors))), "/d")
        self.wire.send(message, descriptors)

    def run(self) -> list[Any]:
        """Have the supervisor run until the server's end is closed; return what it told."""
        self.wire.finish()
        self.supervisor.run()
        return self.told()

    def told(self) -> list[Any]:
        found = []
        while messages := self.wire.receive():
            found += [message for message, _ in messages]
        return found

    def close(self) -> None:
        self.wire.close()
        self.theirs.close()
        os.close(self.wake)
        os.close(self.woken)


class Poll:
    """Says what is ready; with nothing ready, time passes until the timeout."""

    def __init__(self, played: Played) -> None:
        self.played = played
        self.events: dict[int, int] = {}

    def register(self, descriptor: int, events: int) -> None:
        self.events[descriptor] = events

    modify = register

    def poll(self, timeout: int | None) -> list[tuple[int, int]]:
        self.played.polled.append((timeout, len(self.events)))
        real = process_poll()
        for descriptor, events in self.events.items():
            real.register(descriptor, events)
        ready = real.poll(0)
        is_server = [descriptor for descriptor, _ in ready] == [self.played.theirs.descriptor]
        if timeout and (not ready or (is_server and self.is_at_end())):
            self.played.now += timeout / 1000  # the end of the server is noticed when nothing is due any more
            return []
        return ready

    def is_at_end(self) -> bool:
        return self.played.socket.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT) == b""


process_poll = process.poll


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    made = Played(monkeypatch)
    before = set(os.listdir("/dev/fd"))
    yield made
    assert set(os.listdir("/dev/fd")) == before
    made.close()


def test_a_program_is_started_and_its_end_told(played: Played) -> None:
    played.spawn(7, 2, 2)
    played.spawn(8, mark=b"1.a")
    assert played.run() == [("started", 7, 101), ("started", 8, 102)]
    assert played.started == [(["true"], {}, [3, 4], "/d"), (["true"], {b"MCPC_CALL": b"1.a"}, [], "/d")]
    assert played.groups.told == ["prepare", ("begin", 101, {}), "prepare", ("begin", 102, {b"MCPC_CALL": b"1.a"})]
    played.ended += [(102, 0), (999, 0), (101, 9), (103, 3 << 8)]
    played.groups.left = {101}
    os.write(played.woken, b"x" * 600)
    played.supervisor.run()
    assert played.told() == [("ended", 8, 0, False), ("ended", 7, -9, True)]
    with pytest.raises(BlockingIOError):
        os.read(played.wake, 1)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (OSError(ENOENT, "No such file"), "cannot run true: No such file"),
        (ValueError("embedded null byte"), "cannot run true: embedded null byte"),
        (TypeError("odd"), "cannot run true: odd"),
    ],
)
def test_a_program_that_cannot_be_started_is_told_at_once(played: Played, problem: BaseException, reason: str) -> None:
    played.problems.append(problem)
    played.spawn(7, 2)
    played.spawn(8)
    assert played.run() == [("failed", 7, reason), ("started", 8, 101)]


def test_without_arguments_nothing_can_be_run(played: Played) -> None:
    played.problems.append(ValueError("missing program name"))
    played.spawn(7, argv=())
    assert played.run() == [("failed", 7, "cannot run nothing: missing program name")]


def test_room_is_waited_for(played: Played) -> None:
    tries = round(START_SECONDS / RETRY_SECONDS)
    played.problems += [OSError(EAGAIN, "no room")] * (tries // 2)
    played.spawn(7, 2)
    assert played.run() == [("started", 7, 101)]
    assert played.now == pytest.approx(tries // 2 * RETRY_SECONDS, abs=tries * 0.002)
    assert {timeout for timeout, _ in played.polled} >= {51, None}


def test_room_is_waited_for_only_so_long(played: Played) -> None:
    played.problems += [OSError(EMFILE, "no room")] * 1000
    played.spawn(7, 2)
    assert played.run() == [("failed", 7, "cannot run true: no room")]
    assert START_SECONDS <= played.now < START_SECONDS + 2 * RETRY_SECONDS
    assert all(timeout is None or 0 < timeout <= 51 for timeout, _ in played.polled)


def test_only_so_many_wait_for_room(played: Played) -> None:
    played.problems += [OSError(EAGAIN, "no room")] * (MAX_WAITING + 1)
    for number in range(MAX_WAITING + 1):
        played.spawn(number)
    told = played.run()
    assert told[0] == ("failed", MAX_WAITING, "cannot run true: no room")
    assert told[1:] == [("started", number, 101 + number) for number in range(MAX_WAITING)]


def test_a_program_whose_descriptors_did_not_arrive_fails_alone(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = played.theirs.receive

    def receive(wire: DescriptorSocket) -> Any:
        found = real() if wire is played.theirs else RECEIVE(wire)
        return found and [(message, [MISSING] if message[:2] == ("spawn", 7) else taken) for message, taken in found]

    monkeypatch.setattr(DescriptorSocket, "receive", receive)
    played.spawn(7)
    played.spawn(8)
    assert played.run() == [("failed", 7, "cannot run true: Too many open files"), ("started", 8, 101)]


RECEIVE = DescriptorSocket.receive


def test_what_waits_can_be_stopped(played: Played) -> None:
    played.problems += [OSError(EAGAIN, "no room")] * 3
    for number, mark in ((1, b"1.a"), (2, b"1.b"), (3, b"")):
        played.spawn(number, 2, mark=mark)
    played.wire.send(("end", 0, "1.a"))
    played.wire.send(("end", 0, ""))
    played.wire.send(("end", 1, ""))
    assert played.run() == [("failed", 1, "stopped before it started"), ("started", 2, 101), ("started", 3, 102)]
    assert [told for told in played.groups.told if type(told) is tuple and told[0] == SIGTERM] == [
        (SIGTERM, [(0, b"1.a")])
    ]


def test_calls_are_asked_to_end_then_killed_again_and_again(played: Played) -> None:
    played.groups.calls = 5
    played.wire.send(("end", 10, "1.a"))
    played.wire.send(("end", 11, ""))
    played.run()
    both = [(10, b"1.a"), (11, b"")]
    assert played.groups.told == [(SIGTERM, both), (SIGKILL, both), *[(SIGKILL, both[:1])] * 3]
    assert played.now == pytest.approx(GRACE_SECONDS + 0.01 + 0.02 + 0.03, abs=0.01)


def test_killing_is_given_up(played: Played) -> None:
    played.groups.calls = 100
    played.wire.send(("end", 10, ""))
    played.run()
    assert len(played.groups.told) == 21


def test_at_the_end_all_are_asked_then_killed_and_folders_removed(played: Played, tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    played.wire.send(("keep", str(tmp_path / "a")))
    played.run()
    played.groups.rounds = 4
    played.supervisor.finish()
    assert played.groups.told == [("all", SIGTERM), ("all", SIGKILL), ("all", SIGKILL)]
    assert (tmp_path / "a").exists() is False
    assert LAST_GRACE_SECONDS < played.now < LAST_GRACE_SECONDS + 0.1


@pytest.mark.parametrize("ends", [True, False])
def test_at_the_end_those_are_waited_for_that_end_by_themselves(played: Played, ends: bool) -> None:
    """One that has ended before is not; one that does not end is, only so long."""
    for number in (1, 2):
        played.spawn(number)
        played.wire.send(("time", number))
    played.run()
    played.ended = [(101, 0), *([(102, 0)] if ends else [])]
    played.has_children = True
    played.supervisor._reap()
    played.has_children = False
    played.groups.rounds = 1
    played.supervisor.finish()
    assert played.groups.told[-1] == ("all", SIGTERM)
    assert LEAVE_SECONDS * (not ends) <= played.now < LEAVE_SECONDS * (not ends) + LAST_GRACE_SECONDS + 0.1


def test_an_end_that_nothing_delays_is_quiet(played: Played) -> None:
    played.run()
    played.supervisor.finish()
    assert (played.groups.told, played.now) == ([], 0.0)


def test_what_cannot_be_ended_is_given_up(played: Played) -> None:
    played.has_children = True
    played.supervisor.finish()
    assert played.groups.told[0] == ("all", SIGTERM)
    assert set(played.groups.told[1:]) == {("all", SIGKILL)}
    assert GIVE_UP_SECONDS < played.now - LAST_GRACE_SECONDS < GIVE_UP_SECONDS + 0.1
