"""The client's channel: the same lines however the bytes arrive, and no write that blocks or costs more than its limit."""

import errno
import os
import select
import subprocess
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mcpc_runtime.protocol.image import PIECE, StoredPage
from mcpc_runtime.transports import stdio
from mcpc_runtime.transports.platforms import PIPE_CAPACITY
from mcpc_runtime.transports.stdio import Channel

LIMIT = 40
HIGH_WATER, MAX_RETRIES = 4 << 20, 100
CASES = [
    (b"one\n", [b"one"]),
    (b"one\ntwo\n", [b"one", b"two"]),
    (b"one\r\n\n \t\ntwo\n", [b"one\r", b"two"]),
    (b"last without an end", [b"last without an end"]),
    (b"", []),
    (b"\n\n\n", []),
    (b" \n" * 30, []),
    (b"a" * 40 + b"\n", [b"a" * 40]),
    (b"a" * 40, [b"a" * 40]),
    (b"a" * 41, [None]),
    (b"a" * 41 + b"\nnext\n" + b"b" * 39 + b"\n", [None, b"next", b"b" * 39]),
    (b" " * 41 + b"\n" + b" " * 40 + b"\n", [None]),
    (b"a" * 1000 + b"\n" + b"b" * 500, [None, None]),
    ("é\u2028ü\n".encode(), ["é\u2028ü".encode()]),
]


class Ends:
    """A server's channel, and the client's ends of its pipes."""

    def __init__(self, limit: int) -> None:
        server_input, self.writing = os.pipe()
        self.reading, server_output = os.pipe()
        os.dup2(server_input, 0)
        os.dup2(server_output, 1)
        os.close(server_input)
        os.close(server_output)
        self.channel = Channel(limit)

    def close(self) -> None:
        for descriptor in (self.writing, self.reading, self.channel.descriptor, self.channel.output):
            if descriptor >= 0:
                os.close(descriptor)

    def hang_up(self) -> None:
        os.close(self.writing)
        self.writing = -1

    def receive(self, count: int) -> bytes:
        """Read so many bytes as the client, while the server writes what is left."""
        received = b""
        while len(received) < count:
            self.channel.flush()
            received += os.read(self.reading, count)
        return received


@pytest.fixture(autouse=True)
def plain_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The input is read without a look at the parent process, which has tests of its own."""
    monkeypatch.setattr(stdio.system, "getppid", lambda: 1)


@contextmanager
def standard_streams_kept() -> Iterator[None]:
    kept = [os.dup(number) for number in range(3)]
    try:
        yield
    finally:
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)


@contextmanager
def opened() -> Iterator[Ends]:
    with standard_streams_kept():
        ends = Ends(LIMIT)
        yield ends
        ends.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    """Pytest exchanges the standard streams before the test itself, which is of no importance to most."""
    with opened() as ends:
        yield ends


def lines(ends: Ends, pieces: list[bytes]) -> list[bytes | None]:
    found: list[bytes | None] = []
    for piece in pieces:
        os.write(ends.writing, piece)
        found += ends.channel.read()
    ends.hang_up()
    while not ends.channel.ended:
        found += ends.channel.read()
    return found


@pytest.mark.parametrize(("data", "expected"), CASES)
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_lines(ends: Ends, data: bytes, expected: list[bytes | None], size: int) -> None:
    assert lines(ends, [data[at : at + size] for at in range(0, len(data), size)]) == expected


def test_a_line_over_the_limit_costs_no_more_than_the_limit(ends: Ends) -> None:
    piece = b"x" * 65_000
    tracemalloc.start()
    try:
        assert lines(ends, [piece] * 40) == [None]
        assert tracemalloc.get_traced_memory()[1] < 5 * len(piece)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("sizes", "count"), [([stdio.LARGE - 1, 5], 0), ([stdio.LARGE], 1), ([stdio.LARGE] * 2, 1)])
def test_the_first_large_message_has_large_blocks_returned(
    sizes: list[int], count: int, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    returned: list[None] = []
    monkeypatch.setattr(stdio, "return_large_blocks", lambda: returned.append(None))
    monkeypatch.setattr(ends.channel, "_limit", 2 * stdio.LARGE)
    for size in sizes:
        for _ in range(size // (1 << 15)):
            os.write(ends.writing, b"x" * (1 << 15))
            assert ends.channel.read() == []
        os.write(ends.writing, b"x" * (size % (1 << 15)) + b"\n")
        assert [len(line or b"") for line in ends.channel.read()] == [size]
    assert len(returned) == count


def test_handlers_meet_neither_stream() -> None:
    with opened() as ends:
        os.write(ends.writing, b"line\n")
        assert os.read(0, 10) == b""
        assert os.path.sameopenfile(1, 2)
        os.write(1, b"printed")
        assert ends.channel.read() == [b"line"]
        ends.channel.write(b"protocol\n")
        assert ends.channel.flush()
        assert os.read(ends.reading, 100) == b"protocol\n"


@pytest.mark.parametrize("is_missing", [False, True])
def test_the_null_device_is_closed_again_unless_it_is_a_standard_stream(
    is_missing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_missing:

        def missing(*_: object) -> int:
            raise FileNotFoundError

        monkeypatch.setattr(stdio, "open_null", lambda: os.open(os.devnull, os.O_RDWR))
    with standard_streams_kept():
        lowest = os.dup(0)
        os.close(lowest)
        for closed in ((), (0,)):
            for number in closed:
                os.close(number)
            with monkeypatch.context() as patched:
                if is_missing:
                    patched.setattr(stdio.system, "open", missing)
                stdio.redirect_standard_streams()
            assert os.read(0, 1) == b""
            assert os.path.sameopenfile(1, 2)
            free = os.dup(0)
            os.close(free)
            assert free == lowest


def test_writes_become_nonblocking_before_they_can_block(ends: Ends) -> None:
    channel = ends.channel
    first = channel.output
    channel.write(b"a" * (PIPE_CAPACITY - 7))
    channel.write(b"b" * 7)
    assert (channel.unsent, channel.bytes_written) == (PIPE_CAPACITY, 0)
    assert channel.flush()
    assert (channel.unsent, channel.bytes_written, channel.output) == (0, PIPE_CAPACITY, first)
    assert os.get_blocking(first)
    assert channel.flush()
    channel.write(b"c")
    assert not channel.flush()
    assert (channel.unsent, channel.bytes_written) == (1, PIPE_CAPACITY)
    assert ends.receive(PIPE_CAPACITY + 1) == b"a" * (PIPE_CAPACITY - 7) + b"b" * 7 + b"c"
    assert channel.bytes_written == PIPE_CAPACITY + 1


def test_a_client_that_does_not_read_is_written_to_when_it_does(ends: Ends) -> None:
    channel = ends.channel
    channel.write(b"1" * HIGH_WATER)
    assert not channel.full
    channel.write(b"2")
    assert channel.full
    assert not channel.flush()
    accepted = channel.bytes_written
    assert (channel.unsent, channel.full) == (HIGH_WATER + 1 - accepted, False)
    assert accepted >= PIPE_CAPACITY
    channel.write(b"3")
    assert not channel.flush()
    assert (channel.bytes_written, channel.unsent) == (accepted, HIGH_WATER + 2 - accepted)
    assert ends.receive(HIGH_WATER + 2) == b"1" * HIGH_WATER + b"23"
    assert channel.bytes_written == HIGH_WATER + 2


def test_a_page_is_read_while_the_client_reads_it_and_not_from_a_changed_file(ends: Ends) -> None:
    whole = bytes(range(251)) * 4000
    reads: list[int] = []

    def read(offset: int, length: int) -> bytes:
        if offset >= 3 * PIPE_CAPACITY and not reads:
            raise ImportError("the file was changed")
        reads.append(length)
        return whole[offset : offset + length]

    channel = ends.channel
    page = StoredPage(read, (0, len(whole)), (b"<", 5, 9, b"|", 20, len(whole), b">"))
    channel.write(b"1")
    channel.write_later(page)
    channel.write(b"2")
    expected = b"1<" + whole[5:9] + b"|" + whole[20:] + b">2"
    assert channel.unsent == 3
    assert not channel.flush()
    assert 1 < channel.unsent < 2 * PIECE
    assert sum(reads) <= channel.bytes_written + 2 * PIECE < len(whole)
    assert ends.receive(len(expected)) == expected
    assert (channel.unsent, channel.bytes_written) == (0, len(expected))
    del reads[:]
    channel.write_later(StoredPage(read, (3 * PIPE_CAPACITY, 9), (0, 9)))
    with pytest.raises(OSError, match="the file was changed"):
        channel.flush()


def test_a_client_that_has_gone_is_noticed(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    os.close(ends.reading)
    ends.reading = -1
    ends.channel.write(b"x")
    with pytest.raises(BrokenPipeError):
        ends.channel.flush()

    def reset(*_: object) -> bytes:
        raise ConnectionResetError

    os.write(ends.writing, b"one\nrest")
    assert ends.channel.read() == [b"one"]
    monkeypatch.setattr(stdio.system, "read", reset)
    assert (ends.channel.read(), ends.channel.ended) == ([b"rest"], True)


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for the parent."""
    process = subprocess.Popen(["sleep", "600"])
    monkeypatch.setattr(stdio.system, "getppid", lambda: process.pid)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("tells", [True, False], ids=["", "by a system that does not tell whether input is there"])
def test_the_end_of_the_parent_ends_the_input_after_what_was_sent(
    parent: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    if not tells:
        monkeypatch.setattr(stdio, "NO_WAIT", 0)
    with opened() as ends:
        os.write(ends.writing, b"one\ntw")
        assert ends.channel.read() == [b"one"]
        assert not select.select([ends.channel.watch_parent()], [], [], 0)[0]
        os.write(ends.writing, b"o\nth")
        parent.kill()
        assert select.select([ends.channel.watch_parent()], [], [], 10)[0]
        assert (ends.channel.read(), ends.channel.ended) == ([b"two"], False)
        assert (ends.channel.read(), ends.channel.ended) == ([b"th"], True)


@pytest.mark.parametrize("reaped", [True, False])
def test_a_parent_that_ended_before_it_was_watched_ends_the_input(
    parent: subprocess.Popen[bytes], reaped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened() as ends:
        parent.kill()
        os.waitid(os.P_PID, parent.pid, os.WEXITED | os.WNOWAIT)
        if reaped:
            parent.wait()
            monkeypatch.setattr(stdio.system, "getppid", lambda: 1)
        assert (ends.channel.read(), ends.channel.ended) == ([], True)


@pytest.mark.parametrize("number", [0, 1])
def test_the_first_process_is_not_a_parent_to_watch(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio.system, "getppid", lambda: number)
    with opened() as ends:
        assert ends.channel.watch_parent() == -1


def test_a_parent_may_be_left(parent: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stdio.system.environ, b"MCPC_WITHOUT", b"proc,parent")
    with opened() as ends:
        assert ends.channel.watch_parent() == -1


def test_input_that_does_not_block_is_waited_for(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    os.set_blocking(ends.channel.descriptor, False)
    waited: list[tuple[object, ...]] = []
    monkeypatch.setattr(stdio, "select", lambda *given: waited.append(given))
    assert (ends.channel.read(), ends.channel.ended) == ([], False)
    assert waited == [((ends.channel.descriptor,), (), ())]
    os.write(ends.writing, b"line\n")
    assert ends.channel.read() == [b"line"]


@pytest.mark.parametrize("number", [4, 12, 105])
@pytest.mark.parametrize("name", ["read", "write"])
def test_an_error_that_may_pass_is_survived_a_hundred_times(
    ends: Ends, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    channel, waits = ends.channel, []
    working = getattr(stdio.system, name)
    left = 0

    def act() -> object:
        return channel.read() if name == "read" else channel.flush()

    def fail(*given: object) -> object:
        nonlocal left
        left -= 1
        if left >= 0:
            raise OSError(number, "as injected")
        return working(*given)

    monkeypatch.setattr(stdio, "sleep", waits.append)
    monkeypatch.setattr(stdio.system, name, fail)
    for _ in range(2):
        left = MAX_RETRIES
        os.write(ends.writing, b"line\n")
        channel.write(b"data")
        assert [act() for _ in range(MAX_RETRIES)] == [[] if name == "read" else False] * MAX_RETRIES
        assert channel.unsent >= 4
        assert act() == ([b"line"] if name == "read" else True)
    assert waits == [0.01] * 2 * MAX_RETRIES
    left = MAX_RETRIES + 1
    channel.write(b"data")
    with pytest.raises(OSError, match="read" if name == "read" else "written to"):
        for _ in range(MAX_RETRIES + 1):
            act()
    assert left == 0
    left = 0
    if name == "write":
        assert channel.flush()
        assert os.read(ends.reading, 100) == b"data" * 3


def test_an_error_that_does_not_pass_breaks_the_channel(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "no medium")

    monkeypatch.setattr(stdio.system, "write", fail)
    ends.channel.write(b"x")
    with pytest.raises(OSError, match=r"^the client cannot be written to: no medium$"):
        ends.channel.flush()
