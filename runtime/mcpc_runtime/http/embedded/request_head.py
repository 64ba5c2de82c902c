"""The strict parser of the head of an HTTP/1.1 request: what is ambiguous is refused, never repaired.

RFC 9112 lets a server accept bare line feeds, folded lines and repeated lengths.  If a proxy before the server reads
them in another way, requests can be smuggled through the difference.  Pure: bytes in, a head out.
"""

from __future__ import annotations

import re

from mcpc_runtime.http.request import RequestHeaders

Pairs = list[tuple[bytes, bytes]]


END = b"\r\n\r\n"
CHUNKED = -1
MAX_FIELDS = 100
MAX_LINE_LENGTH = 8192
TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
REQUEST_LINE = re.compile(rb"(%b) ([!-~]+) HTTP/([0-9])\.([0-9])\r\n" % TOKEN)
FIELDS = re.compile(rb"(?:%b:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n" % TOKEN)
BROKEN_LINE = re.compile(rb"(?:^|[^\r])\n|\r[^\n]|\0")
"""A line feed without a carriage return, a carriage return without a line feed, or a NUL: not allowed in a head."""
BEGINNING = re.compile(rb"%b(?: |\Z)" % TOKEN)
BAD_REQUEST, TOO_LARGE, NO_SUCH_VERSION, EXPECTATION_FAILED = 400, 431, 505, 417


class BadRequestError(Exception):
    """A head that is refused; `status`: the HTTP status of the refusal."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class RequestHead:
    """The parsed head of a request.

    `length`: that of the body, or CHUNKED.  `closes`: no other request follows on the connection.  `expects`: the
    client waits for `100 Continue` before it sends the body.  `parsed`: the headers as the application parsed them,
    cached because clients send equal heads again and again.
    """

    __slots__ = ("closes", "expects", "headers", "length", "method", "parsed", "path", "query", "raw_path", "version")

    def __init__(self, method: str, target: bytes, version: str, headers: Pairs) -> None:
        self.method = method
        self.raw_path, _, self.query = target.partition(b"?")
        self.path = ""
        self.version = version
        self.headers = headers
        self.length = 0
        self.closes = version == "1.0"
        self.expects = False
        self.parsed: RequestHeaders | None = None


def check_beginning(data: bytes, limit: int) -> None:
    """Raise BadRequestError if `data` can no longer become the head of a request."""
    if len(data) > limit:
        raise BadRequestError(TOO_LARGE, "the head of the request is too long")
    first_line, line_end, _ = data.partition(b"\r\n")
    if BROKEN_LINE.search(data) or not (REQUEST_LINE.match(data) if line_end else BEGINNING.match(first_line)):
        raise BadRequestError(BAD_REQUEST, "the request is not HTTP/1.1")


def parse(data: bytes) -> RequestHead:
    """Return the head that `data` is, including its last empty line; raise BadRequestError."""
    line = REQUEST_LINE.match(data)
    if line is None:
        raise BadRequestError(BAD_REQUEST, "the request is not HTTP/1.1")
    method, target, major, minor = line.groups()
    if major != b"1" or minor not in b"01":
        raise BadRequestError(NO_SUCH_VERSION, "this server speaks HTTP/1.1")
    if line.end() > MAX_LINE_LENGTH:
        raise BadRequestError(TOO_LARGE, "the first line is too long")
    if FIELDS.fullmatch(data, line.end()) is None:
        raise BadRequestError(BAD_REQUEST, "a header line is malformed")
    lines = data[line.end() : -len(END)].split(b"\r\n") if len(data) > line.end() + 2 else []
    if len(lines) > MAX_FIELDS:
        raise BadRequestError(TOO_LARGE, "too many headers")
    pairs = [(name.lower(), value.strip(b" \t")) for name, _, value in (row.partition(b":") for row in lines)]
    head = RequestHead(method.decode(), target, f"1.{minor.decode()}", pairs)
    head.path = path_of(head)
    set_framing(head)
    return head


def path_of(head: RequestHead) -> str:
    """Return the path of a request as it was sent: a percent-encoded spelling of a path is another path.

    So a proxy that decides by the raw path means the same path.  A target in absolute form must have the host of the
    Host header (RFC 9112, 3.2.2).
    """
    hosts = field_values(head, b"host")
    if len(hosts) > 1 or (not hosts and head.version == "1.1"):
        raise BadRequestError(BAD_REQUEST, "exactly one Host header is required")
    raw = head.raw_path
    scheme, slashes, rest = raw.partition(b"://")
    if slashes and scheme.lower() in (b"http", b"https"):
        authority, slash, path = rest.partition(b"/")
        if hosts and authority.lower() != hosts[0]:
            raise BadRequestError(BAD_REQUEST, "the target and Host disagree")
        raw = head.raw_path = slash + path or b"/"
    return raw.decode("ascii")


def field_values(head: RequestHead, field: bytes) -> list[bytes]:
    """Return the values of the fields with one name, in lower case."""
    return [value.lower() for name, value in head.headers if name == field]


def set_framing(head: RequestHead) -> None:
    """Set where the request ends, and whether another may follow."""
    options = [word.strip() for value in field_values(head, b"connection") for word in value.split(b",")]
    head.closes = head.closes or b"close" in options
    expected = field_values(head, b"expect")
    if expected not in ([], [b"100-continue"]):
        raise BadRequestError(EXPECTATION_FAILED, "the only supported Expect is 100-continue")
    head.expects = bool(expected)
    head.length = length_of(
        field_values(head, b"content-length"), field_values(head, b"transfer-encoding"), head.version
    )


def length_of(lengths: list[bytes], codings: list[bytes], version: str) -> int:
    """Return the length of the body, or CHUNKED; it must not be given twice, nor in two ways."""
    if len(lengths) + len(codings) > 1:
        raise BadRequestError(BAD_REQUEST, "the body length is given more than once")
    if codings:
        if codings != [b"chunked"] or version == "1.0":
            raise BadRequestError(BAD_REQUEST, "the only supported Transfer-Encoding is chunked")
        return CHUNKED
    if not lengths:
        return 0
    if not lengths[0].isdigit() or len(lengths[0]) > 18:
        raise BadRequestError(BAD_REQUEST, "Content-Length is not a number")
    return int(lengths[0])
