"""The supervisor where the system has no room for a process, what it never does to others, and its messages with descriptors."""

import _socket
import errno
import os
import resource
import signal
import socket
from collections.abc import Iterator

import pytest

from mcpc_runtime.transports.platforms.posix.supervision import client, termination, wire
from mcpc_runtime.transports.platforms.processes import signal_group
from mcpc_runtime.transports.platforms.reactor import Reactor
from mcpc_runtime.transports.platforms.supervisor import Supervisor
from support.processes import Token, nothing_left, turn_until


@pytest.fixture
def token() -> Iterator[Token]:
    with nothing_left() as token:
        yield token


def run(supervisor: Supervisor, reactor: Reactor, token: Token, *numbers: int) -> tuple[int, str]:
    """Start `true` with so many descriptors; return what became of it."""
    ended: list[tuple[int, str]] = []
    descriptors = dict.fromkeys(numbers, 2)
    environment = {**token.environment, b"MCPC_CALL": b"1.a"}
    supervisor.spawn(["true"], environment, descriptors, lambda *what: ended.append(what))
    turn_until(reactor, lambda: ended)
    return ended[0]


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A supervisor that is forked even from a test runner with a thread, so that it has what was put in its parts."""
    monkeypatch.setattr(client._thread, "_count", lambda: 0)


def test_a_full_table_of_files_fails_one_call_and_no_other(token: Token, forked: None) -> None:
    reactor = Reactor()
    supervisor = Supervisor(reactor)
    assert run(supervisor, reactor, token) == (0, "")
    before, hard = resource.prlimit(supervisor._pid, resource.RLIMIT_NOFILE)
    resource.prlimit(supervisor._pid, resource.RLIMIT_NOFILE, (18, hard))
    many = range(3, 10)
    for _ in range(3):
        assert run(supervisor, reactor, token, *many) == (-1, "cannot run true: Too many open files")
        assert run(supervisor, reactor, token, 3) == (0, "")
    resource.prlimit(supervisor._pid, resource.RLIMIT_NOFILE, (before, hard))
    assert run(supervisor, reactor, token, *many) == (0, "")
    supervisor.close()


def test_a_supervisor_that_hangs_holds_the_end_up_only_so_long(token: Token, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CLOSE_SECONDS", 0.2)
    reactor = Reactor()
    supervisor = Supervisor(reactor)
    assert run(supervisor, reactor, token) == (0, "")
    child = supervisor.spawn(["sleep", "1000"], token.environment, {}, lambda *_: None)
    while not child.pid:
        reactor.turn()
    os.kill(supervisor._pid, signal.SIGSTOP)
    supervisor.close()
    assert not token.alive()


def test_a_supervisor_without_room_for_its_descriptors_leaves_none_open(monkeypatch: pytest.MonkeyPatch) -> None:
    real, tries = client.duplicate_above, []

    def duplicate(descriptor: int) -> int:
        tries.append(descriptor)
        if len(tries) == 2:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(descriptor)

    monkeypatch.setattr(client, "archive_descriptor", lambda place, number: (place, {number: 2}))
    monkeypatch.setattr(client, "duplicate_above", duplicate)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        before = os.listdir("/proc/self/fd")
        with pytest.raises(OSError, match="Too many open files"):
            client.spawn_supervisor(theirs)
        assert os.listdir("/proc/self/fd") == before


def test_no_signal_goes_to_everybody() -> None:
    for pid in (0, 1, -1):
        assert not signal_group(pid, signal.SIGTERM)
    family = termination.ProcessGroups(os.getppid(), adopts=False)
    assert (
        family.signal_calls(
            [termination.Termination(0, b""), termination.Termination(1, b""), termination.Termination(os.getppid(), b"")],
            0,
        ) == []
    )  # fmt: skip


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_frames_arrive_whole_however_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (1, 2, 5, 7, 100):
        monkeypatch.setattr(wire, "READ_SIZE", size)
        ours, theirs = map(wire.DescriptorSocket, _socket.socketpair())
        sent = [("a", b"x" * length) for length in (0, 1, 50, 300)]
        found = []
        for number, message in enumerate(sent):
            ours.send(message, (2,) * number)
        while len(found) < len(sent):
            found += theirs.receive() or ()
        assert [message for message, _ in found] == sent
        assert [len(taken) for _, taken in found] == [0, 1, 2, 3]
        for _, taken in found:
            assert not any(map(os.get_inheritable, taken))
            wire.close_all(taken)
        ours.close()
        assert theirs.receive() is None
        theirs.close()


def test_a_kept_message_without_room_for_its_descriptors_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = map(wire.DescriptorSocket, _socket.socketpair())
    while not ours.pending:
        ours.send((b"x" * 60_000,))
    before = descriptors()
    made = []

    def dup(number: int) -> int:
        if len(made) == 2:
            raise OSError(errno.EMFILE, "full")
        made.append(os.dup(number))
        return made[-1]

    monkeypatch.setattr(wire.posix, "dup", dup)
    with pytest.raises(OSError, match="full"):
        ours.send(("never",), (2, 2, 2))
    assert descriptors() == before
    monkeypatch.undo()
    found = []
    while ours.pending:
        found += theirs.receive() or ()
        ours.flush()
    assert ("never",) not in [message for message, _ in found]
    ours.close()
    theirs.close()
