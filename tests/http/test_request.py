"""Heads of requests as h11 takes them, and what headers repeat of a stateless request's body: X06, in the order of the ladder."""

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcpc_runtime.http.embedded.messages import CHUNKED, END, BadRequestError, check_beginning, parse
from mcpc_runtime.http.origins import OriginCheck
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.request import (
    RequestHeaders,
    argument_mismatch,
    argument_value,
    header_mismatch,
    is_equal_value,
    is_stateless,
    name_mismatch,
    repeated_header,
)
from mcpc_runtime.http.settings import HttpSettings
from support.asgi import Client, Doorman, mirrors, reply, served, stateless
from support.http_sample import sample
from support.knocks import CAPABILITIES, MODERN, VERSION, word
from support.scale import scaled

PARAMETERS = [
    ({}, {}, True),
    ({"region": "eu"}, {"Region": "eu"}, True),
    ({"region": "eu"}, {}, False),
    ({"region": "eu"}, {"Region": "us"}, False),
    ({"region": "=?base64?x?="}, {"Region": word("=?base64?x?=")}, True),
    ({}, {"Region": "eu"}, False),
    ({"count": 42}, {"Count": "4.2e1"}, True),
    ({"count": 42}, {"Count": "٤٢"}, False),
    ({"count": 2**53 - 1}, {"Count": "9007199254740992"}, False),
    ({"count": 42}, {"Count": "9" * 5000}, False),
    ({"sure": True}, {"Sure": "True"}, False),
    ({"where": {"zone": "a"}}, {"Zone": "a"}, True),
    ({"region": "eu", "count": 1}, {"Region": "eu"}, False),
    ({"region": "eu", "count": 1}, {"Region": "eu", "Count": "1"}, True),
]


@pytest.mark.parametrize(("arguments", "headers", "good"), PARAMETERS)
def test_arguments_that_headers_repeat(arguments, headers, good):
    params = {"name": "place", "arguments": arguments}
    given = dict(
        [*mirrors("tools/call", params), *((f"mcp-param-{name.lower()}", value) for name, value in headers.items())]
    )
    fields = {name.encode(): value.encode() for name, value in given.items()}
    assert (header_mismatch(stateless("tools/call", params), fields, sample()) == "") is good
    hidden = header_mismatch(stateless("tools/call", params), fields, sample(), "place".__ne__)
    assert hidden == "", "of a hidden tool nothing is told"


HIDING = Doorman(lambda name, path: Principal("ann", "place".__ne__))


@served(sample, authenticator=HIDING)
async def test_headers_do_not_tell_of_a_tool_that_is_hidden(client: Client):
    for name in ("place", "nowhere"):
        answer = await client.modern("tools/call", {"name": name, "arguments": {"region": "eu"}})
        found = await reply(answer)
        assert (answer.status, found["error"]["code"]) == (400, -32602)
        assert found["error"]["message"] == f"Unknown tool: {name}"


META = {VERSION: MODERN, CAPABILITIES: {}}


@pytest.mark.parametrize(
    ("change", "headers", "problem"),
    [
        ({}, {}, "MCP-Protocol-Version is missing"),
        ({}, {"mcp-protocol-version": MODERN}, "Mcp-Method is missing"),
        ({}, {"mcp-protocol-version": f" {MODERN}\t", "mcp-method": "\tping "}, ""),
        (
            {},
            {"mcp-protocol-version": "x" * 81, "mcp-method": "ping"},
            f"MCP-Protocol-Version is {'x' * 80!r}, the body says {MODERN!r}",
        ),
        ({}, {"mcp-protocol-version": MODERN, "mcp-method": "Ping"}, "Mcp-Method is 'Ping', the body says 'ping'"),
        (
            {"method": "y" * 81},
            {"mcp-protocol-version": MODERN, "mcp-method": "x"},
            f"Mcp-Method is 'x', the body says {'y' * 80!r}",
        ),
        ({"method": 1}, {}, ""),
        ({"id": None}, {}, ""),
        ({"params": {"_meta": {VERSION: 1, CAPABILITIES: {}}}}, {}, ""),
        ({"params": {"_meta": {VERSION: MODERN, CAPABILITIES: []}}}, {}, ""),
        ({"params": []}, {}, ""),
    ],
)
def test_headers_are_compared_with_a_body_that_is_well_formed(change, headers, problem):
    message = {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {"_meta": META}, **change}
    fields = {name.encode(): value.encode() for name, value in headers.items()}
    assert header_mismatch(message, fields, sample()) == problem


@pytest.mark.parametrize(
    ("value", "expected", "problem"),
    [
        (None, "a", "Mcp-Name is missing"),
        (None, None, ""),
        (b" a\t", "a", ""),
        (b"a", "b", "Mcp-Name is 'a', which differs from the body"),
        (b"x" * 81, "b", f"Mcp-Name is {'x' * 80!r}, which differs from the body"),
        (b"\xe9", "\xe9", "Mcp-Name has characters that a header cannot have; it must be a Base64 word then"),
        (b"a\tb", "a\tb", ""),
        (b"a\x1fb", "", "Mcp-Name has characters that a header cannot have; it must be a Base64 word then"),
        (b"=?base64?w6k=?=", "\xe9", ""),
        (b"=?base64??=", "", ""),
        (b"=?base64?=", "=?base64?=", ""),
        (b"=?base64?w6k?=", "\xe9", "Mcp-Name has a broken Base64 word"),
        (b"=?base64?w6l=?=", "\xe9", "Mcp-Name has a Base64 word that is not canonical"),
        (b"=?base64?/w==?=", "", "Mcp-Name has a broken Base64 word"),
    ],
)
def test_a_name_is_compared_with_the_one_in_the_body(value, expected, problem):
    assert name_mismatch(value, expected) == problem


@pytest.mark.parametrize(
    ("text", "argument", "is_equal"),
    [
        ("true", True, True), ("false", False, True), ("1", True, False), ("true", False, False), ("1", 1, True), ("-1", -1, True),
        ("1.0", 1, True), ("1e2", 100, True), ("1E-2", 0.01, True), ("2", 1, False), ("", 0, False), ("+1", 1, False),
        ("9" * 19, int("9" * 19), True), ("1" + "0" * 19, 10**19, False), ("1.5", 1.5, True), (".5", 0.5, False), ("a", "a", True),
        ("a", "b", False), ("a", ["b"], True), ("1", 1.0, True), ("true", 1, False),
    ],
)  # fmt: skip
def test_a_header_has_the_value_of_an_argument(text, argument, is_equal):
    assert is_equal_value(text, argument) is is_equal


@pytest.mark.parametrize(
    ("value", "argument", "problem"),
    [
        (None, None, ""), (b"x", None, "is given, but the body has no such argument"), (None, [1], ""), (None, 0, "is missing"),
        (None, False, "is missing"), (None, 0.5, "is missing"), (None, "", "is missing"), (b"x", "x", ""),
        (b"y", "x", "is 'y', which differs from the body"), (b"=?base64?x?=", "x", "has a broken Base64 word"),
    ],
)  # fmt: skip
def test_a_header_repeats_an_argument(value, argument, problem):
    assert argument_mismatch(value, argument) == problem


def headers_of(*pairs, limit=100, origins=()):
    """Return the parsed headers of pairs, besides Host."""
    settings = HttpSettings(body_limit=limit, origins=origins)
    given = [(b"host", b"localhost"), *((name.encode(), value.encode()) for name, value in pairs)]
    return RequestHeaders(given, OriginCheck(settings), settings)


JSON = ("content-type", "application/json")


@pytest.mark.parametrize(
    ("pairs", "status", "length"),
    [
        ([], 415, -1), ([JSON], 0, -1), ([JSON, ("content-length", "100")], 0, 100), ([JSON, ("content-length", "101")], 413, -1),
        ([JSON, ("content-length", "0" * 18)], 0, 0), ([JSON, ("content-length", "0" * 19)], 413, -1), ([JSON, ("content-length", "")], 400, -1),
        ([JSON, ("content-length", "1"), ("transfer-encoding", "chunked")], 400, -1), ([JSON, ("transfer-encoding", "chunked")], 0, -1),
        ([JSON, ("content-encoding", "Identity")], 0, -1), ([JSON, ("content-encoding", "gzip")], 415, -1),
        ([("content-type", ' Application/JSON ; charset="UTF-8" ')], 0, -1), ([("content-type", "application/json;charset=x")], 415, -1),
        ([("content-type", "text/json;charset=utf-8")], 415, -1),
    ],
)  # fmt: skip
def test_headers_say_whether_a_body_is_read(pairs, status, length):
    found = headers_of(*pairs)
    assert (found.body_error[0] if found.body_error else 0, found.content_length, found.denial) == (
        status,
        length,
        None,
    )


@pytest.mark.parametrize(
    ("accept", "accepts_events", "only_events"),
    [
        ([], True, False), ([""], True, False), (["application/json"], False, False), (["*/*"], True, False), (["text/*"], True, False),
        (["text/event-stream"], True, True), (["text/event-stream", "application/*"], True, False), (["text/html"], False, False),
        (["text/event-stream;q=0, */*"], False, False), (["text/*;q=0, */*"], False, False), (["*/*; Q = 0.00 "], False, False),
        (["*/*;q=0.001"], True, False), (["text/event-stream, application/json;q=0, */*"], True, True), (["*/*;q=0.0000"], True, False),
        (["text/event-stream;q=0"], False, False), (["text/event-stream;a=b;q=0"], False, False),
    ],
)  # fmt: skip
def test_headers_say_what_a_client_accepts(accept, accepts_events, only_events):
    found = headers_of(*(("accept", value) for value in accept))
    assert (found.accepts_events, found.only_events) == (accepts_events, only_events)


def test_headers_are_parsed_once():
    found = headers_of(("mcp-session-id", "\xe9"), ("mcp-protocol-version", "v"), ("x", "1"), ("x", "2"))
    assert (found.session_id, found.version, found.cors, found.denial) == ("\xc3\xa9", b"v", [], None)
    assert (headers_of().session_id, headers_of().version) == (None, None)
    for twice in ("host", "mcp-param-x"):
        assert headers_of(("mcp-param-x", "a"), (twice, "b")).denial[0] == 400
    shared = headers_of(("origin", "https://a"), origins=("https://a",))
    assert shared.cors[:2] == [(b"access-control-allow-origin", b"https://a"), (b"vary", b"origin")]
    assert repeated_header([(b"x", b"1"), (b"y", b"2"), (b"x", b"3")], {b"x": b"", b"y": b""}, (b"y", b"x")) == "x"
    assert repeated_header([(b"x", b"1"), (b"x", b"3")], {b"x": b""}) == ""


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        ({"params": {"_meta": {VERSION: 1}}}, True), ({"params": {"_meta": {CAPABILITIES: 1}}}, True), ({"params": {"_meta": {}}}, False),
        ({"params": {"_meta": []}}, False), ({"params": []}, False), ({}, False), ([], False), (None, False),
    ],
)  # fmt: skip
def test_a_message_that_names_its_revision_is_stateless(message, is_one):
    assert is_stateless(message) is is_one


def test_an_argument_is_found_by_its_path():
    arguments = {"a": {"b": 1}, "c": [1]}
    paths = [(), ("a",), ("a", "b"), ("a", "x"), ("c", "0"), ("x", "y")]
    assert [argument_value(arguments, path) for path in paths] == [arguments, {"b": 1}, 1, None, None, None]


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
