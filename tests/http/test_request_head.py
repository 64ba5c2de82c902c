"""Heads of requests: what is taken is taken as h11 takes it, and what h11 refuses is never taken."""

from __future__ import annotations

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcpc_runtime.http.embedded.messages import CHUNKED, END, BadRequestError, check_beginning, parse
from support.scale import scaled

NAMES = st.sampled_from(
    ["Host", "host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "X-A", "Accept", "Mcp-Name", "X A", ""]
)  # fmt: skip
VALUES = st.sampled_from(
    ["localhost", "0", "4", "04", "+4", "4,4", "chunked", "Chunked", "gzip", "chunked, chunked", "close", "keep-alive, Close",
     "100-continue", "", " ", "\tx\t", "a:b", "\x00", "a\rb", "é", "x\x7f"]
)  # fmt: skip
METHODS = st.sampled_from(["GET", "POST", "post", "M-SEARCH", "G ET", "", "É"])
TARGETS = st.sampled_from(
    ["/", "/mcp", "/a%20b?c=d", "*", "http://localhost/mcp", "HTTP://localhost", "/a b", "/é", ""]
)
ENDS = st.sampled_from(["\r\n", "\n", "\r\r\n"])


@st.composite
def heads(draw: st.DrawFn) -> bytes:
    version = draw(st.sampled_from(["HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 "]))
    lines = [f"{draw(METHODS)} {draw(TARGETS)} {version}"]
    lines += [f"{name}{draw(st.sampled_from([': ', ':', ' : ']))}{value}"
              for name, value in draw(st.lists(st.tuples(NAMES, VALUES), max_size=5))]  # fmt: skip
    usual = draw(st.booleans())
    text = "".join(line + ("\r\n" if usual else draw(ENDS)) for line in lines) + "\r\n"
    return text.encode("latin-1")


@pytest.mark.slow
@settings(max_examples=scaled(2000, 800), deadline=None)
@given(data=heads() | st.binary(max_size=60).map(lambda data: data + END))
@example(data=b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n")
@example(data=b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n")
def test_what_is_taken_h11_takes_in_the_same_way(data: bytes) -> None:
    try:
        found = parse(data)
    except BadRequestError as problem:
        assert problem.status in (400, 417, 431, 505)
        return
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    event = connection.next_event()
    assert type(event) is h11.Request
    assert (event.method.decode(), event.http_version.decode()) == (found.method, found.version)
    assert [(name, value) for name, value in event.headers] == found.headers or found.length == CHUNKED
    is_empty = not found.length
    assert (type(connection.next_event()) is h11.EndOfMessage) is is_empty


@settings(max_examples=500, deadline=None)
@given(data=heads(), cut=st.integers(0, 200))
def test_a_beginning_is_refused_only_if_the_whole_is(data: bytes, cut: int) -> None:
    try:
        parse(data)
    except BadRequestError:
        return
    beginnings = (data[:length] for length in range(1, min(cut, len(data) - 1)))
    assert [part for part in beginnings if END not in part and not part.endswith(b"\r") and is_refused(part)] == []


def is_refused(beginning: bytes) -> bool:
    """Whether what has come of a head is refused before its end."""
    try:
        check_beginning(beginning, len(beginning) + 1)
    except BadRequestError:
        return True
    return False


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"/mcp", "/mcp"),
        (b"/mcp?a=%20", "/mcp"),
        (b"/%6dcp", "/%6dcp"),
        (b"/mcp%2f", "/mcp%2f"),
        (b"/%2e%2E/", "/%2e%2E/"),
        (b"/%zz", "/%zz"),
        (b"http://localhost/mcp%2f?x", "/mcp%2f"),
        (b"http://localhost", "/"),
    ],
)
def test_a_path_is_what_was_sent(target: bytes, path: str) -> None:
    assert parse(b"POST %b HTTP/1.1\r\nhost: localhost\r\n\r\n" % target).path == path
