"""Frames over a stream: a call that the worker has not read is taken back, one of which it has read a part is not."""

from __future__ import annotations

import os
import sys

import pytest

from mcpc_runtime.handlers.python.worker.frames import FULL, LENGTH_BYTES, NUMBER_BYTES, SENT, StreamSender
from mcpc_runtime.platforms import system

if sys.platform == "win32":
    pytest.skip("an end of a recallable pipe is overlapped there", allow_module_level=True)

LARGE = os.urandom(3 << 20)
"""More than the system keeps of a stream."""


@pytest.fixture
def sender():
    made = StreamSender()
    yield made
    made.close()


@pytest.mark.parametrize("body", [b"", b"body", LARGE], ids=len)
def test_an_unread_call_is_taken_back_and_the_next_one_arrives(sender: StreamSender, body: bytes) -> None:
    assert sender.put(7, body) == SENT
    assert sender.put(8, b"more") == FULL
    assert sender.take_back() == [(7, body)]
    assert not sender.has_unbegun_call()
    assert not sender.is_writing
    assert sender.put(8, b"more") == SENT
    assert read(sender, LENGTH_BYTES + NUMBER_BYTES + 4).endswith(b"more")


@pytest.mark.parametrize("size", [1, LENGTH_BYTES, LENGTH_BYTES + NUMBER_BYTES, 70_000])
def test_a_call_that_was_read_in_part_stays_whole(sender: StreamSender, size: int) -> None:
    sender.put(7, LARGE)
    begin = read(sender, size)
    assert sender.take_back() == []
    assert sender.has_unbegun_call()
    whole = begin + read(sender, LENGTH_BYTES + NUMBER_BYTES + len(LARGE) - size)
    assert whole[LENGTH_BYTES + NUMBER_BYTES :] == LARGE
    sender.begun(7)
    assert sender.take_back() == []


def read(sender: StreamSender, size: int) -> bytes:
    """Read so many bytes as the worker does, while the server writes."""
    parts = b""
    while len(parts) < size:
        sender.flush()
        parts += system.read(sender.worker_end, size - len(parts))
    return parts
