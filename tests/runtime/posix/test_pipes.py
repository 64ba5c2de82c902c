"""Pipes between processes, streams of notes, what a process is set up with, and writing that never waits, on POSIX systems."""

import fcntl
import os
import socket
from errno import EBADF
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime import log as module
from mcpc_runtime.transports.platforms.pipes import open_nonblocking
from mcpc_runtime.transports.platforms.posix import pipes, scripts
from mcpc_runtime.transports.platforms.posix.supervision import process
from support.fake_runtime import FakeReactor


def test_our_end_of_a_pipe_does_not_block() -> None:
    before = os.listdir("/dev/fd")
    rows = [
        (pipes.incoming, [False, True], 1),
        (pipes.outgoing, [False, True], 0),
        (pipes.recallable, [False, True], 0),
    ]
    for make, blocking, writer in [*rows, (pipes.wake_pipe, [False, False], 1)]:
        ends = make()
        assert [os.get_blocking(end) for end in ends] == blocking
        os.write(ends[writer], b"x")
        assert os.read(ends[1 - writer], 9) == b"x"
        for end in (*ends, *ends):
            pipes.close(end)
    assert os.listdir("/dev/fd") == before


def test_what_was_not_read_of_a_pipe_is_taken_back() -> None:
    ours, theirs = pipes.recallable()
    assert pipes.recalled(theirs) == b""
    os.write(ours, b"data")
    assert (pipes.recalled(theirs), pipes.recalled(theirs)) == (b"data", b"")
    os.close(ours)
    os.close(theirs)


def test_a_pipe_that_cannot_be_made_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int, blocking: bool) -> None:
        raise OSError(EBADF, "no")

    before = os.listdir("/dev/fd")
    monkeypatch.setattr(pipes.posix, "set_blocking", fail)
    for make in (pipes.incoming, pipes.outgoing, pipes.recallable, pipes.wake_pipe):
        with pytest.raises(OSError, match="no"):
            make()
    assert os.listdir("/dev/fd") == before


def test_a_stream_of_notes_is_read_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "stream").encode()
    stream, reactor, called = scripts.open_stream(path), FakeReactor(), []
    assert os.stat(path).st_mode & 0o777 == 0o600
    scripts.watch_stream(reactor, stream, lambda: called.append(os.read(stream, 9)))
    reactor.ready_for(scripts.READABLE)
    with open(path, "ab") as file:
        file.write(b"note")
    reactor.ready_for(scripts.READABLE)
    assert (called, os.get_blocking(stream), os.get_inheritable(stream)) == ([b"note"], False, False)
    scripts.forget_stream(reactor, stream)
    assert reactor.watched == {}
    os.close(stream)


@pytest.mark.parametrize(("has_it", "answer", "expected"), [(True, 0, True), (True, -1, False), (False, 0, False)])
def test_a_process_is_set_up_where_the_system_can(
    has_it: bool, answer: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[Any] = []
    monkeypatch.setattr(process.system_features, "has", lambda name: has_it)
    monkeypatch.setattr(process.system_features, "address_of", lambda name: name)
    monkeypatch.setattr(process.system_features, "call", lambda *words: (called.append(words), answer)[1])
    assert (process.become_subreaper(), process.make_undumpable()) == (expected, expected)
    assert called == ([("prctl", (36, 1, 0, 0, 0)), ("prctl", (4, 0, 0, 0, 0))] if has_it else [])

    def lack(name: str) -> None:
        raise ImportError

    monkeypatch.setattr(process.system_features, "address_of", lack)
    if has_it:
        with pytest.raises(OSError, match="Too many open files"):
            process.become_subreaper()


def fill(put, descriptor: int, data: bytes) -> int:
    """Write until there is no room; return how much there was."""
    written = 0
    with pytest.raises(BlockingIOError):
        while written < len(data):
            written += put(descriptor, memoryview(data)[written:])
        raise AssertionError("it took everything")
    return written


def drain(descriptor: int, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        parts += os.read(descriptor, 1 << 16)
    return parts


def test_a_pipe_is_opened_once_more_and_stays_blocking_for_those_who_share_it() -> None:
    reading, writing = os.pipe()
    shared = os.dup(writing)
    put, own = open_nonblocking(writing)
    data = os.urandom(1 << 20)
    written = fill(put, own, data)
    assert drain(reading, written) == data[:written]
    assert not fcntl.fcntl(shared, fcntl.F_GETFL) & os.O_NONBLOCK
    for descriptor in (reading, own, shared):
        os.close(descriptor)


def test_a_pipe_nobody_reads_any_more_says_so_when_it_is_written_to() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    put, own = open_nonblocking(writing)
    with pytest.raises(BrokenPipeError):
        put(own, memoryview(b"x"))
    os.close(own)


def test_a_socket_is_asked_whether_it_has_room() -> None:
    ours, theirs = socket.socketpair()
    put, own = open_nonblocking(os.dup(ours.fileno()))
    data = os.urandom(4 << 20)
    written = fill(put, own, data)
    assert written > 4096
    assert drain(theirs.fileno(), written) == data[:written]
    assert put(own, memoryview(data)) == 4096
    for end in (ours, theirs):
        end.close()
    os.close(own)


def test_errors_that_nobody_reads_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    real = os.dup
    monkeypatch.setattr(module.system, "dup", lambda number: real(writing))
    errors = module.StandardError()
    for _ in range(100):
        errors.write(b"x" * 5000)
    kept = b""
    os.set_blocking(reading, False)
    with pytest.raises(BlockingIOError):
        while True:
            kept += os.read(reading, 1 << 16)
    errors.write(b"after\n")
    lost = 500_000 - len(kept)
    assert os.read(reading, 1 << 16) == b"\n[%d bytes of standard error were lost]\nafter\n" % lost
    for descriptor in (reading, writing):
        os.close(descriptor)
    os.close(errors._descriptor)


def test_what_was_lost_is_told_once_and_counted_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    accepted: list[int] = []
    written: list[bytes] = []

    def put(descriptor: int, view: memoryview) -> int:
        size = min(accepted.pop(0), len(view)) if accepted else 0
        if not size:
            raise BlockingIOError
        written.append(bytes(view[:size]))
        return size

    monkeypatch.setattr(module, "open_nonblocking", lambda descriptor: (put, descriptor))
    errors = module.StandardError()
    for room, data in (
        ([3, 2], b"abcdefgh"),
        ([], b"ij"),
        ([4], b"kl"),
        ([38, 1], b"mno"),
        ([99], b"pq"),
        ([9], b"rs"),
    ):
        accepted[:] = room
        errors.write(data)
    told = [b"\n[%d bytes of standard error were lost]\n" % number for number in (5, 7, 3)]
    assert written == [b"abc", b"de", told[0][:4], told[1][:38], told[1][38:], told[2] + b"pq", b"rs"]


def test_lines_begin_with_the_time_if_they_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr(module.StandardError, "write", lambda errors, data: written.append(data))
    module.log_line("é\ud800")
    monkeypatch.setattr(module.LineFormat, "prefix", lambda: "12:00 ")
    module.log_line("text")
    assert written == ["é\\ud800\n".encode(), b"12:00 text\n"]


def test_text_is_lost_where_no_descriptor_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> int:
        raise OSError(24, "Too many open files")

    written: list[bytes] = []
    opened: list[int] = []
    errors = module.StandardError()
    with monkeypatch.context() as patch:
        patch.setattr(module.system, "dup", full)
        errors.write(b"abc")
    monkeypatch.setattr(module.system, "dup", lambda number: opened.append(number) or 7)
    monkeypatch.setattr(
        module, "open_nonblocking", lambda descriptor: (lambda _, view: written.append(bytes(view)) or len(view), 8)
    )
    errors.write(b"d")
    errors.prepare()
    errors.write(b"e")
    assert (written, opened) == ([b"\n[3 bytes of standard error were lost]\nd", b"e"], [2])
