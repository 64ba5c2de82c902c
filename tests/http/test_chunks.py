"""Chunked bodies: what is taken is taken as h11 takes it, and nothing is decoded before it was asked for."""

from itertools import pairwise

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcpc_runtime.http.embedded.messages import (
    FREE_FRAMING,
    LARGEST_CHUNK,
    MAX_AT_ONCE,
    MAX_CHUNK_LINE,
    ChunkedBody,
    ChunkError,
)

pytestmark = pytest.mark.sampled(3)

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


def decoded(*pieces: bytes) -> tuple[bytes, bool]:
    """The data of a body that comes in these pieces, and whether it has come to its end."""
    body, data = ChunkedBody(), b""
    for piece in pieces:
        body.feed(piece)
        while not body.is_starved:
            data += body.decode()
    return data, body.ended


def by_h11(sent: bytes) -> tuple[bytes, bool]:
    connection, data = h11.Connection(h11.SERVER), b""
    connection.receive_data(HEAD + sent)
    assert type(connection.next_event()) is h11.Request
    while type(event := connection.next_event()) is h11.Data:
        data += bytes(event.data)
    return data, type(event) is h11.EndOfMessage


def chunk(data: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(data), extension, data)


SIZES = st.sampled_from(
    [b"0", b"1", b"3", b"03", b"A", b"0x1", b"+1", b"-1", b"1_0", b" 1", b"1 ", b"", b"g", b"\xc2\xb2"]
)
EXTENSIONS = st.sampled_from([b"", b";a", b";a=b", b";", b" ;a", b";a\n", b";a\rb", b";\x00", b"; \xe9", b" \t"])
ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\n", b"\r", b"", b"\r\n\r\n"])
ODD = st.lists(
    st.builds(lambda *parts: b"".join(parts), SIZES, EXTENSIONS, ENDS, st.binary(max_size=4), ENDS), max_size=4
).map(b"".join)
GOOD = st.lists(st.binary(min_size=1, max_size=40).map(chunk), max_size=5).map(
    lambda found: b"".join(found) + b"0\r\n\r\n"
)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(sent=ODD | GOOD | st.binary(max_size=30))
@example(sent=b"1\r\na\r\n0\r\nX: y\r\n\r\n")
@example(sent=b"1\r\na\r\n0\r\n\n")
def test_what_is_taken_h11_takes_in_the_same_way(sent: bytes) -> None:
    try:
        found = decoded(sent)
    except ChunkError:
        return
    assert found == by_h11(sent)


@settings(max_examples=100, deadline=None)
@given(parts=st.lists(st.binary(min_size=1, max_size=60), max_size=6), cuts=st.lists(st.integers(0, 400), max_size=5))
def test_the_pieces_that_a_body_comes_in_make_no_difference(parts: list[bytes], cuts: list[int]) -> None:
    sent = b"".join(map(chunk, parts)) + b"0;last\r\n\r\n"
    marks = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    assert decoded(*[sent[a:b] for a, b in pairwise(marks)]) == (b"".join(parts), True)
    assert decoded(*[sent[at : at + 1] for at in range(len(sent))]) == (b"".join(parts), True)


@pytest.mark.parametrize(
    "sent",
    [
        b"1\na", b"1\r\nab\r\n", b"0x1\r\n", b"+1\r\n", b"-1\r\n", b"1_0\r\n", b" 1\r\n", b"\r\n", b"g\r\n", b"1;a\n", b"1;a\rb\r\n",
        b"1;\x00\r\n", b"1 ;a\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\n\n", b"000000000000000000001\r\n", b"%x\r\n" % (LARGEST_CHUNK + 1),
        b"1;" + b"a" * MAX_CHUNK_LINE, b"1;" + b"a" * MAX_CHUNK_LINE + b"\r\n", b"f" * 30, b"1\r\na\n", b"1\r\na\rb",
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_as_soon_as_that_is_seen(sent: bytes) -> None:
    with pytest.raises(ChunkError):
        decoded(sent)
    with pytest.raises(ChunkError):
        decoded(*[sent[at : at + 1] for at in range(len(sent))])


@pytest.mark.parametrize("name", ["whole", "in pieces"])
def test_limits_of_chunks_are_as_large_as_they_are(name: str) -> None:
    def passes(line: bytes, rest: bytes) -> bool:
        body = ChunkedBody()
        try:
            for piece in [line + rest] if name == "whole" else [line, rest]:
                body.feed(piece)
                while not body.is_starved:
                    body.decode()
        except ChunkError:
            return False
        return True

    for length in (MAX_CHUNK_LINE, MAX_CHUNK_LINE + 1):
        line = b"1;".ljust(length - 2, b"a") + b"\r\n"
        assert passes(line, b"x\r\n") is (length == MAX_CHUNK_LINE)
    assert passes(b"%x\r\n" % LARGEST_CHUNK, b"x") and not passes(b"%x\r\n" % (LARGEST_CHUNK + 1), b"x")
    assert passes(b"00000000000000000001\r\n", b"x\r\n") and not passes(b"000000000000000000001\r\n", b"x\r\n")


def test_framing_is_weighed_against_data() -> None:
    for count, is_refused in ((FREE_FRAMING // 4, False), (FREE_FRAMING // 4 + 1, True)):
        body = ChunkedBody()
        body.feed(chunk(b"x") * count)  # five bytes of framing for one of data
        if is_refused:
            with pytest.raises(ChunkError, match="too small"):
                while not body.is_starved:
                    body.decode()
        else:
            while not body.is_starved:
                body.decode()
            assert body.size == 0


def test_what_was_not_decoded_is_buffered() -> None:
    body = ChunkedBody()
    assert (body.size, body.is_starved, body.ended) == (0, True, False)
    for piece, decoded_bytes, size, is_starved in (
        (b"", b"", 0, True), (b"3\r", b"", 2, True), (b"\nab", b"ab", 0, True), (b"c\r", b"c", 1, True), (b"\n4;x\r\nd", b"d", 0, True),
        (b"efg\r\n0\r\n\r\nmore", b"efg", 4, True),
    ):  # fmt: skip
        body.feed(piece)
        assert body.is_starved is (not piece)
        found = b""
        while not body.is_starved:
            found += body.decode()
        assert (found, body.size, body.is_starved) == (decoded_bytes, size, is_starved)
    assert body.ended


def test_no_more_is_decoded_at_once_than_was_settled() -> None:
    body = ChunkedBody()
    body.feed(chunk(b"12345678") * MAX_AT_ONCE * 2)
    assert len(body.decode()) == 8 * MAX_AT_ONCE
    assert not body.is_starved
    assert len(body.decode()) == 8 * MAX_AT_ONCE
