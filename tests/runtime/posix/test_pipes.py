"""Pipes between processes, streams of notes, and what a process is set up with, on POSIX systems."""

from __future__ import annotations

import os
from errno import EBADF
from pathlib import Path
from typing import Any

import pytest

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
