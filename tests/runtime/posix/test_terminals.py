"""A terminal that is taken and given back, and the pipes between processes, on POSIX systems."""

from __future__ import annotations

import os
import pty
import signal
import sys
import termios
from errno import EBADF
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from mcpc_runtime.transports.platforms.posix import note_streams, pipes, terminals
from mcpc_runtime.transports.platforms.posix.supervision import subreaper
from mcpc_runtime.transports.platforms.posix.terminals import ENTER, LEAVE, FullScreen
from support.fake_runtime import FakeReactor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int, list[str]]]:
    ours, theirs = pty.openpty()
    written: list[str] = []
    stdout = SimpleNamespace(write=written.append, flush=lambda: written.append("flush"))
    stdin = SimpleNamespace(fileno=lambda: theirs)
    monkeypatch.setattr(terminals, "sys", SimpleNamespace(stdin=stdin, stdout=stdout, exit=sys.exit))
    yield ours, theirs, written
    os.close(ours)
    os.close(theirs)


def test_a_terminal_is_taken_and_given_back(screen: tuple[int, int, list[str]]) -> None:
    ours, theirs, written = screen
    before: Any = termios.tcgetattr(theirs)
    handlers = [signal.getsignal(number) for number in terminals.ENDING_SIGNALS]
    with FullScreen() as taken:
        attributes: Any = termios.tcgetattr(theirs)
        assert attributes[3] & (termios.ICANON | termios.ECHO) == 0
        assert attributes[6][termios.VSUSP] == b"\0"
        assert written == [ENTER, "flush"]
        with pytest.raises(SystemExit) as left:
            signal.raise_signal(signal.SIGTERM)
        assert left.value.code == 143
        os.write(ours, "aé\x1b[A\x1b[1;5~\x1bOPb".encode())
        assert [taken.read_key(5) for _ in range(3)] == ["a", "é", "b"]
        os.write(ours, b"\x1b")
        assert taken.read_key(0.05) == ""
        os.write(ours, b"c")
        assert taken.read_key(5) == "c"
    assert written[2:] == [LEAVE, "flush"]
    assert termios.tcgetattr(theirs) == before
    assert [signal.getsignal(number) for number in terminals.ENDING_SIGNALS] == handlers


def test_the_end_of_the_input_is_a_key(screen: tuple[int, int, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    with FullScreen() as taken, monkeypatch.context() as patch:
        patch.setattr(terminals.os, "read", lambda descriptor, size: b"")
        patch.setattr(terminals.select, "select", lambda *words: ([1], [], []))
        assert taken.read_key(1) == terminals.END_OF_INPUT


def test_the_size_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals.shutil, "get_terminal_size", lambda default: os.terminal_size((default[0] + 1, 7)))
    assert terminals.terminal_size() == (81, 7)


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
    stream, reactor, called = note_streams.open_stream(path), FakeReactor(), []
    assert os.stat(path).st_mode & 0o777 == 0o600
    note_streams.watch_stream(reactor, stream, lambda: called.append(os.read(stream, 9)))
    reactor.ready_for(note_streams.READABLE)
    with open(path, "ab") as file:
        file.write(b"note")
    reactor.ready_for(note_streams.READABLE)
    assert (called, os.get_blocking(stream), os.get_inheritable(stream)) == ([b"note"], False, False)
    note_streams.forget_stream(reactor, stream)
    assert reactor.watched == {}
    os.close(stream)


@pytest.mark.parametrize(("has_it", "answer", "expected"), [(True, 0, True), (True, -1, False), (False, 0, False)])
def test_a_process_is_set_up_where_the_system_can(
    has_it: bool, answer: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[Any] = []
    monkeypatch.setattr(subreaper.system_features, "has", lambda name: has_it)
    monkeypatch.setattr(subreaper.c_library, "address_of", lambda name: name)
    monkeypatch.setattr(subreaper.c_library, "call", lambda *words: (called.append(words), answer)[1])
    assert (subreaper.become_subreaper(), subreaper.make_undumpable()) == (expected, expected)
    assert called == ([("prctl", (36, 1, 0, 0, 0)), ("prctl", (4, 0, 0, 0, 0))] if has_it else [])

    def lack(name: str) -> None:
        raise ImportError

    monkeypatch.setattr(subreaper.c_library, "address_of", lack)
    if has_it:
        with pytest.raises(OSError, match="Too many open files"):
            subreaper.become_subreaper()
