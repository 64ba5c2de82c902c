"""Lines from bytes: the same lines however the bytes arrive, and a line over the limit costs no more than the limit."""

import os
import subprocess
import sys

import pytest

from mcpc_runtime.transports.stdio import Channel

LIMIT = 40
CASES = [
    (b"one\n", [b"one"]),
    (b"one\ntwo\n", [b"one", b"two"]),
    (b"one\r\n\n \t\ntwo\n", [b"one\r", b"two"]),
    (b"last without an end", [b"last without an end"]),
    (b"", []),
    (b"\n\n\n", []),
    (b"a" * 40 + b"\n", [b"a" * 40]),
    (b"a" * 41 + b"\nnext\n", [None, b"next"]),
    (b"a" * 1000 + b"\n" + b"b" * 500, [None, None]),
    ("é\u2028ü\n".encode(), ["é\u2028ü".encode()]),
]


class Fed(Channel):
    """A channel on a pipe of the test's."""

    def __init__(self, limit: int, descriptor: int) -> None:
        self.descriptor, self.output, self.ended = descriptor, -1, False
        self._limit, self._chunks, self._size, self._overflow, self._failures = limit, [], 0, False, 0


def lines(pieces: list[bytes]) -> list[bytes | None]:
    reading, writing = os.pipe()
    channel = Fed(LIMIT, reading)
    found: list[bytes | None] = []
    try:
        for piece in pieces:
            os.write(writing, piece)
            found += channel.read()
            assert sum(map(len, channel._chunks)) <= LIMIT
        os.close(writing)
        while not channel.ended:
            found += channel.read()
    finally:
        os.close(reading)
    return found


@pytest.mark.parametrize(("data", "expected"), CASES)
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_lines(data: bytes, expected: list[bytes | None], size: int) -> None:
    assert lines([data[at : at + size] for at in range(0, len(data), size)]) == expected


SHIELDED = """
import os, sys
from mcpc_runtime.transports.stdio import Channel
channel = Channel(100)
print("printed")
sys.stdout.flush()
os.system("echo from a child; cat")
assert os.read(0, 10) == b""
channel.write(b"protocol " + channel.read()[0] + b"\\n")
channel.flush()
"""


def test_handlers_meet_neither_stream() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHIELDED],
        input=b"line\n",
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == b"protocol line\n"
    assert b"printed" in done.stderr and b"from a child" in done.stderr
