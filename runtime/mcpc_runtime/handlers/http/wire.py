"""HTTP/1.1 as bytes: a request, and its answer as it is read from a connection, with bounds for what a server sends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from http import HTTPStatus

from mcpc_runtime.handlers.http.request import OutgoingRequest, RequestRefused
from mcpc_runtime.protocol.image import Image

MAX_HEAD = 1 << 18
"""The bytes of a head, or of one line between chunks."""
MAX_LINES = 100
HEAD_END = re.compile(rb"\r?\n\r?\n")
LINE_END = re.compile(rb"\r?\n")
STATUS = re.compile(r"HTTP/1\.(\d) +(\d{3})(?: .*)?")
SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
WITHOUT_BODY = (204, 304)
ENCODINGS = "gzip, deflate"
WITH_LENGTH = ("POST", "PUT", "PATCH")
"""Methods of requests that say how long their body is, though there is none."""


class NoAnswer(Exception):  # noqa: N818 - it is an answer for a model, which begins with these words
    """A request got no answer that can be read; the message says why."""


class HttpAnswer:
    """The status, the fields of the head by their names in lower case, and the whole body, decompressed."""

    __slots__ = ("body", "fields", "status")

    def __init__(self, status: int, fields: dict[str, list[str]], body: bytes = b"") -> None:
        self.status = status
        self.fields = fields
        self.body = body

    @property
    def reason(self) -> str:
        """What the status means, an empty text if it is not registered."""
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return ""

    @property
    def media(self) -> str:
        """The media type of the body, an empty text if the server does not say it."""
        written = self.header("content-type")
        kind = written.partition(";")[0].strip().lower()
        return kind if kind.count("/") == 1 or not written else "text/plain"

    def header(self, name: str) -> str:
        """Return a field, an empty text if it is not there; of several the first."""
        values = self.fields.get(name)
        return values[0] if values else ""


def agent_of(image: Image) -> str:
    """Return the name with which servers see the requests of this one."""
    name = image.server_name
    return name if name.isascii() and name.isprintable() else "mcpc"


def request_bytes(request: OutgoingRequest, agent: str) -> bytes:
    """Return a request as it is sent; raise RequestRefused for an address that cannot be."""
    target = request.target
    if not target.isascii() or not target.isprintable() or " " in target:
        raise RequestRefused("its address has characters that are not encoded")
    lines = [f"{request.method} {target} HTTP/1.1", f"Host: {request.origin.authority}"]
    lines.append(f"Accept-Encoding: {ENCODINGS}")
    if "user-agent" not in map(str.lower, request.headers):
        lines.append(f"User-Agent: {agent}")
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    if request.cookies:
        lines.append(f"Cookie: {'; '.join(request.cookies)}")
    body = request.body
    if body is not None or request.method in WITH_LENGTH:
        lines.append(f"Content-Length: {len(body or b'')}")
    return "\r\n".join([*lines, "\r\n"]).encode("utf-8", "replace") + (body or b"")


class AnswerReader:
    """Reads one answer.  `receive`: returns more bytes, none at the end of the connection."""

    def __init__(self, receive: Callable[[], bytes], method: str) -> None:
        self._receive = receive
        self._method = method
        self._bytes = b""
        self._is_whole = self._is_kept = False
        self.answer = HttpAnswer(0, {})
        self._read_head()

    @property
    def is_reusable(self) -> bool:
        """Whether the connection can have the next request: the answer was read to its end, and nothing follows."""
        return self._is_whole and self._is_kept and not self._bytes

    def read_body(self) -> Iterator[bytes]:
        """Yield the parts of the body; raise NoAnswer if it ends early."""
        coding, lengths = self._field("transfer-encoding"), set(self.answer.fields.get("content-length", ()))
        length = "".join(lengths)
        if self._method == "HEAD" or self.answer.status in WITHOUT_BODY:
            pass
        elif coding:
            if coding != "chunked":
                raise NoAnswer(f"the answer is sent in an unknown way (`{coding[:40]}`)")
            yield from self._chunks()
        elif lengths:
            # Lengths that differ are refused: the rest could be read as another answer (RFC 9112, section 6.3).
            if len(lengths) > 1 or not length.isascii() or not length.isdigit():
                raise NoAnswer("the answer does not say how long it is")
            yield from self._piece(int(length[:18]))  # more than is ever read
        else:
            self._is_kept = False
            while data := self._bytes or self._receive():
                self._bytes = b""
                yield data
        self._is_whole = True

    def _field(self, name: str) -> str:
        return ", ".join(self.answer.fields.get(name, ())).strip().lower()

    def _read_head(self) -> None:
        """Read the status and the fields of the answer, after those that only say that it will come."""
        while True:
            first, *lines = str(self._until(HEAD_END), "latin-1").replace("\r\n", "\n").split("\n")
            status = STATUS.fullmatch(first)
            if status is None:
                raise NoAnswer("the answer is not HTTP")
            if len(lines) > MAX_LINES:
                raise NoAnswer(f"the head of the answer has more than {MAX_LINES} fields")
            # An answer of 1xx is followed by another one (RFC 9110, section 15.2).
            if not status[2].startswith("1"):
                break
        self.answer = HttpAnswer(int(status[2]), fields_of(lines))
        wish = self._field("connection")
        self._is_kept = "keep-alive" in wish if status[1] == "0" else "close" not in wish

    def _until(self, end: re.Pattern[bytes]) -> bytes:
        """Return what comes before a separator."""
        start = 0
        while (place := end.search(self._bytes, start)) is None:
            # A separator of four bytes may have begun in the last three.
            start = max(0, len(self._bytes) - 3)
            if start > MAX_HEAD:
                raise NoAnswer("the head of the answer is too long")
            more = self._receive()
            if not more and not self._bytes and not self.answer.status:
                raise ConnectionResetError("Remote end closed connection without response")
            self._append(more)
        before, self._bytes = self._bytes[: place.start()], self._bytes[place.end() :]
        return before

    def _append(self, more: bytes) -> None:
        if not more:
            raise NoAnswer("the answer ended before its end")
        self._bytes += more

    def _piece(self, length: int) -> Iterator[bytes]:
        """Yield so many bytes."""
        while length:
            if not self._bytes:
                self._append(self._receive())
            data, self._bytes = self._bytes[:length], self._bytes[length:]
            length -= len(data)
            yield data

    def _chunks(self) -> Iterator[bytes]:
        while True:
            size = SIZE.match(self._until(LINE_END))
            if size is None:
                raise NoAnswer("a part of the answer does not say how long it is")
            if not int(size[0], 16):
                break
            yield from self._piece(int(size[0], 16))
            self._until(LINE_END)
        for _ in range(MAX_LINES):
            if not self._until(LINE_END):
                return
        raise NoAnswer("the answer does not end after its last part")


def fields_of(lines: list[str]) -> dict[str, list[str]]:
    """Return the fields of a head; a line that begins with a space continues the one before."""
    fields: dict[str, list[str]] = {}
    last: list[str] = []
    for line in lines:
        if line[:1] in (" ", "\t") and last:
            last[-1] = f"{last[-1]} {line.strip()}"
            continue
        name, colon, value = line.partition(":")
        if colon:
            last = fields.setdefault(name.strip().lower(), [])
            last.append(value.strip())
    return fields
