"""Capture of outputs and notes at their limits, with limits that a test can read."""

import os
from collections.abc import Iterator
from errno import EBADF, ENOMEM
from typing import Any

import pytest

from mcpc_runtime.handlers import output_capture
from mcpc_runtime.handlers.output_capture import (
    NO_MEMORY,
    NOTE_LIMIT,
    NoteReader,
    OutputCapture,
    drain,
    memory_file,
    read_some,
)


class Account:
    """A memory account with so much room."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.told: list[Any] = []

    def charge(self, size: int) -> bool:
        self.told.append(size)
        self.room -= size
        return self.room >= 0

    def release(self, size: int) -> None:
        self.told.append(-size)

    def clear(self) -> None:
        self.told.append("clear")


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("OUTPUT_LIMIT", 20), ("HEAD_LIMIT", 10), ("CHUNK_COST", 2), ("READ_SIZE", 8)):
        monkeypatch.setattr(output_capture, name, value)


Write = tuple[str, bytes]
OUTPUTS: list[tuple[list[Write], tuple[Any, ...]]] = [
    ([], (b"", b"", b"", 0, (0, 0))),
    ([("o", b"")], (b"", b"", b"", 0, (0, 0))),
    ([("o", b"ab"), ("o", b"cd")], (b"abcd", b"abcd", b"", 0, (4, 0))),
    ([("e", b"ab"), ("e", b"cd")], (b"abcd", b"", b"abcd", 0, (0, 4))),
    ([("o", b"ab"), ("e", b"cd"), ("o", b"ef")], (b"abcdef", b"abef", b"cd", 0, (4, 2))),
    # 2 for a chunk: 18 bytes are whole, of 19 the head stays
    ([("o", b"x" * 18)], (b"x" * 18, b"x" * 18, b"", 0, (18, 0))),
    ([("o", b"x" * 20)], (b"x" * 20, b"x" * 20, b"", 0, (20, 0))),
    ([("o", b"x" * 21)], (b"x" * 8, b"x" * 8, b"", 13, (21, 0))),
    ([("o", b"x" * 18), ("e", b"y")], (b"x" * 8, b"x" * 8, b"", 11, (18, 1))),
    ([("o", b"x" * 4), ("e", b"y" * 12), ("o", b"z" * 5)], (b"xxxxyy", b"xxxx", b"yy", 15, (9, 12))),
    ([("o", b"x" * 6), ("e", b"y" * 3), ("o", b"z" * 30)], (b"xxxxxx", b"xxxxxx", b"", 33, (36, 3))),
    ([("o", b"x" * 30), ("o", b"y"), ("e", b"z")], (b"x" * 8, b"x" * 8, b"", 24, (31, 1))),
    # a chunk of READ_SIZE is full
    ([("o", b"x" * 8), ("o", b"y")], (b"x" * 8 + b"y", b"x" * 8 + b"y", b"", 0, (9, 0))),
    ([("o", b"x" * 8), ("o", b"y" * 8)], (b"x" * 8 + b"y" * 8, b"x" * 8 + b"y" * 8, b"", 0, (16, 0))),
]


@pytest.mark.parametrize(("writes", "expected"), OUTPUTS)
@pytest.mark.usefixtures("_small")
def test_an_output_is_whole_or_its_head(writes: list[Write], expected: tuple[Any, ...]) -> None:
    capture = OutputCapture()
    for stream, data in writes:
        (capture.add_output if stream == "o" else capture.add_errors)(data)
    done = capture.completed(3, "why")
    assert (done.output, done.printed, done.errors, done.dropped, done.sizes) == expected
    assert (done.status, done.problem) == (3, "why")
    assert capture.completed(0).output == b""


@pytest.mark.usefixtures("_small")
def test_what_is_stored_is_charged_and_what_is_shortened_is_released() -> None:
    account: Any = Account(100)
    capture = OutputCapture(account)
    for stream, data in (("o", b"x" * 6), ("o", b"x" * 2), ("o", b"x"), ("e", b"y" * 3), ("e", b"y" * 30)):
        (capture.add_output if stream == "o" else capture.add_errors)(data)
    done = capture.completed(0)
    assert account.told == [8, 2, 3, 5, 2, -7, -3]
    assert (len(done.output) + done.dropped, done.problem) == (42, "")


def test_without_memory_all_is_discarded_and_the_call_fails() -> None:
    account: Any = Account(500)
    capture = OutputCapture(account)
    capture.add_output(b"x" * 300)
    capture.add_errors(b"x" * 300)
    capture.add_output(b"x")
    done = capture.completed(0)
    assert (done.problem, done.output, account.told) == (NO_MEMORY, b"", [428, 428, "clear"])
    assert (done.sizes, done.dropped) == ((301, 300), 0)
    assert OutputCapture(account).completed(1, "why").problem == "why"


PIECES = [
    ([b'{"a":1}\n'], [{"a": 1}]),
    ([b'{"a"', b":1}", b"\n"], [{"a": 1}]),
    ([b'{"a":1}\n{"b":2}\n{"c":3}'], [{"a": 1}, {"b": 2}]),
    ([b"pid 5\n\n[1]\n{broken\n"], [b"pid 5", b"[1]"]),
    ([b"{" + b"x" * NOTE_LIMIT, b'"\n{"a":1}\n'], [{"a": 1}]),
    ([b'"' + b"x" * (NOTE_LIMIT - 1), b'"\n'], [b'"' + b"x" * (NOTE_LIMIT - 1) + b'"']),
    ([b'"' + b"x" * NOTE_LIMIT, b'"\n5\n'], [b"5"]),
]


@pytest.mark.parametrize(("pieces", "taken"), PIECES, ids=range(len(PIECES)))
def test_each_line_is_a_note_or_something_else(pieces: list[bytes], taken: list[Any]) -> None:
    found: list[Any] = []
    reader = NoteReader(found.append, found.append)
    for piece in pieces:
        reader.feed(piece)
    assert found == taken


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield reading, writing
    os.close(reading)


def test_what_is_there_is_drained_up_to_a_limit(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = pipe
    monkeypatch.setattr(output_capture, "READ_SIZE", 4)
    monkeypatch.setattr(output_capture, "PIPE_LIMIT", 8)
    taken: list[bytes] = []
    dropped: list[int] = []
    os.write(writing, b"0123456789")
    drain({reading: taken.append}, dropped.append)
    assert (taken, dropped) == ([b"0123", b"4567"], [])
    drain({reading: taken.append}, dropped.append)
    assert (taken[2:], dropped) == ([b"89"], [])
    os.close(writing)
    drain({reading: taken.append}, dropped.append)
    assert (taken[3:], dropped) == ([], [reading])


@pytest.mark.parametrize(
    ("problem", "data"),
    [(BlockingIOError(), None), (InterruptedError(), None), (OSError(ENOMEM, "no"), None), (OSError(EBADF, "no"), b"")],
)  # fmt: skip
def test_what_cannot_be_read_is_at_its_end_or_comes_later(
    problem: OSError, data: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int, size: int) -> bytes:
        raise problem

    monkeypatch.setattr(output_capture.system, "read", fail)
    assert read_some(99) == data


def test_a_file_in_memory_has_all_data_and_is_at_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    real = os.write
    monkeypatch.setattr(output_capture.system, "write", lambda file, data: real(file, data[:3]))
    file = memory_file(b"0123456789", opened)
    assert (opened, os.read(file, 100), os.fstat(file).st_size) == ([file], b"0123456789", 10)
    os.close(file)
