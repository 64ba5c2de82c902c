"""The strict parser of the head of an HTTP/1.1 request: what is ambiguous is refused, never repaired.

RFC 9112 lets a server accept bare line feeds, folded lines and repeated lengths.  If a proxy before the server reads
them in another way, requests can be smuggled through the difference.  Pure: bytes in, a head out.

The decoder of chunked bodies (RFC 9112, section 7.1).  Rule: nothing is decoded before it is read.

Arrived bytes are buffered; `decode` decodes at most MAX_AT_ONCE chunks of them, in time linear in their bytes.  It is
strict: sizes are hexadecimal digits, lines end with CR LF, extensions are ignored up to a length, and trailers are
refused.  A body with more framing than data is refused, because tiny chunks cost more to decode than to send.
Pure: bytes in, bytes out.
"""

from __future__ import annotations

import re

from mcpc_runtime.http.request import RequestHeaders

Pairs = list[tuple[bytes, bytes]]


END = b"\r\n\r\n"
CHUNKED = -1
MAX_FIELDS = 100
MAX_LINE_LENGTH = 8192
# `token` of RFC 9110, section 5.6.2.
TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
REQUEST_LINE = re.compile(rb"(%b) ([!-~]+) HTTP/([0-9])\.([0-9])\r\n" % TOKEN)
# Lines without folding and without a space before the colon; values have no control characters but tabs.
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
    # 18 digits stay below 2 ** 63, and bound the time of `int`.
    if not lengths[0].isdigit() or len(lengths[0]) > 18:
        raise BadRequestError(BAD_REQUEST, "Content-Length is not a number")
    return int(lengths[0])


MAX_AT_ONCE = 512
"""Maximum chunks that are decoded at once, in some tenths of a millisecond."""
MAX_CHUNK_LINE = 256
"""Maximum length of a line with a chunk's size and its extensions."""
LARGEST_CHUNK = 1 << 32
FREE_FRAMING = 2048
"""Bytes of framing that every body may have; any more must not exceed its data: chunks of five bytes on average."""
EXTENSION = rb"(?:;[\t\x20-\x7e\x80-\xff]*)?"
read_line = re.compile(rb"([0-9A-Fa-f]{1,20})%b[ \t]*\r\n" % EXTENSION).match
# What may still become the line of a chunk's size: digits, and after them a part of an extension.
read_beginning = re.compile(rb"[0-9A-Fa-f]{0,20}(?:(?<=[0-9A-Fa-f])%b[ \t]*\r?)?" % EXTENSION).fullmatch
CRLF = b"\r\n"
SIZE, DATA, FOOTER, LAST, ENDED = range(5)
"""States, by what is expected next: a chunk's size, its data, the line end after it, the last empty line, nothing."""


class ChunkError(ValueError):
    """The data is not a valid chunked body; the message contains the reason."""


class ChunkedBody:
    """One chunked body.  `is_starved`: nothing can be decoded until more arrives."""

    __slots__ = ("_arrived", "_at", "_data", "_data_bytes", "_framing", "_left", "_state", "is_starved")

    def __init__(self) -> None:
        self._arrived = bytearray()
        self._data = b""
        self._at = 0
        self._left = 0
        self._state = SIZE
        self._framing = self._data_bytes = 0
        self.is_starved = True

    @property
    def size(self) -> int:
        """How many bytes are buffered and not decoded."""
        return len(self._arrived) + len(self._data) - self._at

    @property
    def ended(self) -> bool:
        """Whether the body is complete; bytes after it are ignored."""
        return self._state == ENDED

    def feed(self, data: bytes) -> None:
        """Buffer bytes that have arrived.  Amortized O(their length)."""
        if data:
            self._arrived += data
            self.is_starved = False

    def decode(self) -> bytes:
        """Return the data of the next chunks that have arrived; raise ChunkError."""
        self._data = self._data[self._at :] + bytes(self._arrived)
        self._at = 0
        self._arrived.clear()
        parts: list[bytes] = []
        room = MAX_AT_ONCE
        while (room := room - self._read_whole(parts, room)) > 0:
            room -= 1
            self.is_starved = not self._step(parts)
            if self.is_starved:
                break
        if self._framing > FREE_FRAMING + self._data_bytes:
            raise ChunkError("the chunks of the body are too small")
        return b"".join(parts)

    def _read_whole(self, parts: list[bytes], most: int) -> int:
        """Read the chunks that have arrived completely, which is the fast path; return how many."""
        data, at, before = self._data, self._at, len(parts)
        if self._state != SIZE:
            return 0
        for _ in range(most):
            line = read_line(data, at)
            if line is None:
                break
            start = line.end()
            stop = start + int(line[1], 16)
            if (
                # Left to `_step`: the last chunk, and any that is malformed, too long or has not arrived.
                stop == start
                or data[stop : stop + 2] != CRLF
                or start - at > MAX_CHUNK_LINE
                or stop - start > LARGEST_CHUNK
            ):
                break
            parts.append(data[start:stop])
            at = stop + 2
        size = sum(map(len, parts[before:]))
        self._data_bytes += size
        self._framing += at - self._at - size
        self._at = at
        return len(parts) - before

    def _step(self, parts: list[bytes]) -> bool:
        """Read what has arrived of one chunk; False if it is not complete."""
        if self._state == SIZE and not self._read_size():
            return False
        if self._state == DATA:
            part = self._data[self._at : self._at + self._left]
            self._at += len(part)
            self._left -= len(part)
            self._data_bytes += len(part)
            parts.append(part)
            if self._left:
                return False
            self._state = FOOTER
        return self._state != ENDED and self._read_line_end()

    def _read_size(self) -> bool:
        """Read the line with the size of a chunk; False if it is not complete."""
        line = read_line(self._data, self._at)
        if line is None:
            rest = self._data[self._at : self._at + MAX_CHUNK_LINE]
            if len(rest) >= MAX_CHUNK_LINE or read_beginning(rest) is None:
                raise ChunkError("the size of a chunk is malformed")
            return False
        length = line.end() - self._at
        self._left = int(line[1], 16)
        if length > MAX_CHUNK_LINE or self._left > LARGEST_CHUNK:
            raise ChunkError("a chunk is too long, or its extensions are")
        self._at += length
        self._framing += length + len(CRLF)
        self._state = DATA if self._left else LAST
        return True

    def _read_line_end(self) -> bool:
        """Read the line end after a chunk, or the last empty line; False at the end or if it is not complete."""
        line_end = self._data[self._at : self._at + len(CRLF)]
        if line_end != CRLF:
            if not CRLF.startswith(line_end):
                raise ChunkError("a chunk is longer than its size, or the body has trailers")
            return False
        self._at += len(CRLF)
        is_last, self._state = self._state == LAST, SIZE
        if is_last:
            self._state = ENDED
        return not is_last
