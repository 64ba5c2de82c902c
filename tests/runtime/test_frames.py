"""Frames between the server and a worker: what each end writes and reads, and which calls can be taken back."""

import os
import socket
import sys
from collections.abc import Iterator
from errno import EBADF, EMFILE, EMSGSIZE, ENFILE, ENOBUFS, ENOMEM, EPIPE, ETOOMANYREFS

import pytest

from mcpc_runtime.handlers.python.worker import frames
from mcpc_runtime.handlers.python.worker.frames import (
    DATAGRAM_LIMIT,
    FRAME_LIMIT,
    FULL,
    LENGTH_BYTES,
    NUMBER_BYTES,
    RETRY,
    SENT,
    DatagramReceiver,
    DatagramSender,
    ReplyWriter,
    StreamReceiver,
    StreamSender,
    make_sender,
    read_exactly,
    take_frames,
)
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.posix import system_features

if sys.platform == "win32":
    pytest.skip("an end of a recallable pipe is overlapped there", allow_module_level=True)

LARGE = os.urandom(3 << 20)
"""More than the system keeps of a stream."""
HEAD = LENGTH_BYTES + NUMBER_BYTES


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "little") + body


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.fixture
def sender() -> Iterator[StreamSender]:
    before = open_files()
    made = StreamSender()
    yield made
    made.close()
    assert open_files() == before


@pytest.fixture
def datagrams() -> Iterator[DatagramSender]:
    before = open_files()
    made = DatagramSender()
    yield made
    made.close()
    assert open_files() == before


@pytest.mark.parametrize("body", [b"", b"body", LARGE], ids=len)
def test_an_unread_call_is_taken_back_and_the_next_one_arrives(sender: StreamSender, body: bytes) -> None:
    assert (sender.has_unbegun_call(), sender.is_writing, sender.take_back()) == (False, False, [])
    assert sender.put(7, body) == SENT
    assert (sender.has_unbegun_call(), sender.is_writing) == (True, body == LARGE)
    assert sender.put(8, b"more") == FULL
    assert sender.take_back() == [(7, body)]
    assert (sender.has_unbegun_call(), sender.is_writing, sender.unbegun_calls()) == (False, False, [])
    assert sender.put(8, b"more") == SENT
    assert read(sender, HEAD + 4) == b"\4\0\0\0\10\0\0\0\0\0\0\0more"


@pytest.mark.parametrize("size", [1, LENGTH_BYTES, HEAD, 70_000])
def test_a_call_that_was_read_in_part_stays_whole(sender: StreamSender, size: int) -> None:
    sender.put(7, LARGE)
    begin = read(sender, size)
    assert sender.take_back() == []
    assert sender.has_unbegun_call()
    whole = begin + read(sender, HEAD + len(LARGE) - size)
    assert whole == len(LARGE).to_bytes(4, "little") + (7).to_bytes(8, "little") + LARGE
    sender.begun(7)
    assert (sender.has_unbegun_call(), sender.take_back()) == (False, [])


def test_what_was_not_read_of_a_call_is_sent_again_at_once(sender: StreamSender) -> None:
    sender.put(7, b"body")
    assert os.read(sender.worker_end, HEAD + 1)[-1:] == b"b"
    assert (sender.take_back(), os.read(sender.worker_end, 10)) == ([], b"ody")


def test_only_the_call_that_was_written_whole_is_begun(sender: StreamSender) -> None:
    sender.put(7, LARGE)
    sender.begun(7)
    assert sender.has_unbegun_call()
    assert sender.take_back() == [(7, LARGE)]
    sender.put(8, b"x")
    sender.begun(7)
    assert sender.unbegun_calls() == [(8, b"x")]
    sender.begun(8)
    assert sender.unbegun_calls() == []


def test_a_stream_without_a_reader_is_no_error(sender: StreamSender) -> None:
    sender.put(7, LARGE)
    os.close(sender.worker_end)
    sender.flush()
    assert (sender.is_writing, sender.unbegun_calls()) == (False, [(7, LARGE)])


def read(sender: StreamSender, size: int) -> bytes:
    """Read so many bytes as the worker does, while the server writes."""
    parts = b""
    while len(parts) < size:
        sender.flush()
        parts += system.read(sender.worker_end, size - len(parts))
    return parts


def test_a_worker_takes_calls_of_a_stream_and_acknowledges_each_when_it_is_whole(sender: StreamSender) -> None:
    begun: list[int] = []
    receiver = StreamReceiver(sender.worker_end, begun.append)
    for number, body in ((1, b"first"), (1 << 40, b""), (3, b"x" * 100_000)):
        sender.put(number, body)
        assert receiver.take() == (number, body)
        assert begun == [number]
        sender.begun(begun.pop())


@pytest.mark.parametrize("size", [0, 1, HEAD - 1, HEAD, HEAD + 4])
def test_a_stream_that_ends_has_no_more_calls(size: int) -> None:
    reading, writing = os.pipe()
    os.write(writing, (b"\5\0\0\0\7\0\0\0\0\0\0\0hello")[:size])
    os.close(writing)
    assert StreamReceiver(reading, pytest.fail).take() is None
    os.close(reading)


BODIES = [b"", b"body", b"x" * DATAGRAM_LIMIT, b"x" * (DATAGRAM_LIMIT + 1), LARGE]


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # a worker has its end for life
def test_each_datagram_is_a_call_however_large(datagrams: DatagramSender) -> None:
    receiver = DatagramReceiver(os.dup(datagrams.worker_end))
    assert datagrams.has_unbegun_call() is False
    for number, body in enumerate(BODIES):
        assert datagrams.put(number, body) == SENT
        assert datagrams.has_unbegun_call()
        before = open_files()
        assert receiver.take() == (number, body)
        assert open_files() <= before
        datagrams.begun(number)
    assert not datagrams.has_unbegun_call()
    calls = list(enumerate(BODIES))
    for number, body in calls:
        datagrams.put(number, body)
    assert datagrams.take_back() == calls
    assert datagrams.unbegun_calls() == []
    assert datagrams.put(9, b"last") == SENT
    assert datagrams.unbegun_calls() == [(9, b"last")]


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # a worker has its end for life
def test_the_end_of_the_datagrams_is_no_call() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    receiver = DatagramReceiver(theirs.detach())
    ours.send((7).to_bytes(8, "little"))
    ours.close()
    assert receiver.take() == (7, b"")
    assert receiver.take() is None


@pytest.mark.parametrize("size", [40_000, DATAGRAM_LIMIT + 1])
def test_datagrams_that_find_no_room_are_sent_again(datagrams: DatagramSender, size: int) -> None:
    sent = 0
    while datagrams.put(sent, b"x" * size) == SENT:
        sent += 1
    assert sent
    assert datagrams.put(sent, b"x" * size) == FULL
    assert [number for number, _ in datagrams.take_back()] == list(range(sent))
    assert datagrams.put(sent, b"x" * size) == SENT


@pytest.mark.parametrize("call", ["write", "memory_file"])
def test_a_system_without_room_is_tried_again_later(
    datagrams: DatagramSender, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    body = b"x" * (DATAGRAM_LIMIT + (call == "memory_file"))
    problems = iter([EMFILE, ENFILE, ENOBUFS, ENOMEM, ETOOMANYREFS, EPIPE])

    def fail(*words: object) -> int:
        raise OSError(next(problems), "no")

    monkeypatch.setattr(frames.system if call == "write" else frames, call, fail)
    assert [datagrams.put(1, body) for _ in range(5)] == [RETRY] * 5
    with pytest.raises(BrokenPipeError):
        datagrams.put(1, body)
    assert not datagrams.has_unbegun_call()


def test_a_datagram_that_the_system_refuses_goes_by_a_file(
    datagrams: DatagramSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = frames.system.write

    def write(descriptor: int, data: bytes) -> int:
        if descriptor == datagrams.descriptor:
            raise OSError(EMSGSIZE, "too long")
        return real(descriptor, data)

    monkeypatch.setattr(frames.system, "write", write)
    assert datagrams.put(4, b"body") == SENT
    assert datagrams.take_back() == [(4, b"body")]


@pytest.mark.parametrize(
    ("without", "kind"),
    [("", "datagrams"), ("seqpacket", "stream"), ("memfd", "stream"), ("seqpacket,memfd", "stream")],
)
def test_a_system_without_datagrams_or_files_in_memory_has_a_stream(
    monkeypatch: pytest.MonkeyPatch, without: str, kind: str
) -> None:
    monkeypatch.setattr(system_features.posix, "environ", {system_features.WITHOUT: without.encode()})
    made = make_sender()
    assert (made.kind, made.put(1, b"")) == (kind, SENT)
    made.close()


def test_the_result_of_a_call_is_its_last_frame() -> None:
    reading, writing = os.pipe()
    replies, ended = ReplyWriter(writing), [False]
    replies.send(b"note", ended)
    assert ended == [False]
    replies.send(b"result", ended, last=True)
    assert ended == [True]
    replies.send(b"too late", ended)
    replies.send(b"again", ended, last=True)
    replies.send(b"")
    assert os.read(reading, 100) == frame(b"note") + frame(b"result") + frame(b"")
    os.close(reading)
    other = [False]
    replies.send(b"unread", other, last=True)
    assert other == [True]
    os.close(writing)
    with pytest.raises(OSError) as raised:
        replies.send(b"closed")
    assert raised.value.errno == EBADF


def test_a_frame_is_written_whole_in_whatever_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[bytes] = []
    monkeypatch.setattr(
        frames.system, "write", lambda descriptor, data: pieces.append(bytes(data[:3])) or min(3, len(data))
    )
    ReplyWriter(99).send(b"reply")
    assert pieces == [b"\5\0\0", b"\0re", b"ply"]


def test_reading_stops_at_the_size_or_returns_nothing() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"abcdefg")
    os.close(writing)
    assert [read_exactly(reading, size) for size in (0, 3, 3, 2)] == [b"", b"abc", b"def", None]
    os.close(reading)


WHOLE = frame(b"abc") + frame(b"") + frame(b"de")
TOO_LONG = (FRAME_LIMIT + 1).to_bytes(4, "little")
TAKEN = [
    (b"", [], b""),
    (b"\3\0\0", [], b"\3\0\0"),
    (frame(b""), [b""], b""),
    (WHOLE, [b"abc", b"", b"de"], b""),
    (WHOLE + b"\3", [b"abc", b"", b"de"], b"\3"),
    (WHOLE + frame(b"xyz")[:-1], [b"abc", b"", b"de"], frame(b"xyz")[:-1]),
    (FRAME_LIMIT.to_bytes(4, "little") + b"x", [], FRAME_LIMIT.to_bytes(4, "little") + b"x"),
    (TOO_LONG, None, TOO_LONG),
    (frame(b"abc") + TOO_LONG, [b"abc"], TOO_LONG),
]


@pytest.mark.parametrize(("data", "found", "rest"), TAKEN)
def test_complete_frames_are_taken_and_the_rest_stays(data: bytes, found: list[bytes] | None, rest: bytes) -> None:
    buffer = bytearray(data)
    assert take_frames(buffer) == found
    assert buffer == rest
