"""Messages with descriptors: whole however they are cut, kept while there is no room, and never half sent."""

from __future__ import annotations

import _socket
import errno
import os

import pytest

from mcpc_runtime.transports.platforms.posix.supervision import wire


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
