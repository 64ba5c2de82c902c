"""Send a request and read its answer: retries, redirects, limits.

Only what may be repeated is sent again.  A redirect is followed to the same origin, by reading methods.  An answer is
read to a limit that counts what it is after decompression.
"""

from __future__ import annotations

import socket
import ssl
import zlib
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from os import urandom
from time import time
from typing import Any
from urllib.parse import urljoin, urlsplit

from mcpc_runtime.handlers.http.addresses import AddressRefused
from mcpc_runtime.handlers.http.connections import CHUNK, CallSocket, Connections
from mcpc_runtime.handlers.http.request import PORTS, OutgoingRequest
from mcpc_runtime.handlers.http.wire import AnswerReader, HttpAnswer, NoAnswer, request_bytes

MAX_RETRIES = 2
MAX_REDIRECTS = 5
PATIENCE = 5.0
"""The seconds that a call waits at most because the server asks it to."""
REDIRECTS = (301, 302, 303, 307, 308)
BUSY = (429, 503)
FAILING = (502, 503, 504)
# The low four bits of the first byte of a zlib stream (RFC 1950, section 2.2).
ZLIB_METHOD = 8
EVENTS = "text/event-stream"
LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq")
STREAMS = (EVENTS, *LINES)
FIELDS_OF_EVENTS = (":", "event:", "id:", "retry:")


class Exchange:
    """The requests of one call, which share its deadline."""

    def __init__(self, connections: Connections, call: CallSocket, agent: str, max_read: int) -> None:
        self._connections = connections
        self.call = call
        self.agent = agent
        self._max_read = max_read
        self.on_event: Callable[[str], None] | None = None
        """Called with each event of a stream while it is read."""

    def answer(self, request: OutgoingRequest) -> HttpAnswer:
        """Return the answer to a request; raise NoAnswer."""
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._repeated(request)
            target = redirect_target(request, answer)
            if target is None:
                return answer
            request = moved(request, target)
        raise NoAnswer(f"more than {MAX_REDIRECTS} redirects")

    def _repeated(self, request: OutgoingRequest) -> HttpAnswer:
        """Return the answer, after as many attempts as the request and its deadline allow."""
        for attempt in range(MAX_RETRIES + 1):
            answer, reason = None, ""
            try:
                answer = self._once(request)
                wait = pause_before_retry(answer, attempt, request.repeatable)
            except OSError as problem:
                reason = reason_of(problem, request)
                wait = backoff(attempt) if request.repeatable and is_passing(problem) else None
            if wait is None or attempt == MAX_RETRIES or not self.call.has_time(wait):
                break
            self.call.pause(wait)
        if answer is None:
            raise NoAnswer(reason)
        return answer

    def _once(self, request: OutgoingRequest) -> HttpAnswer:
        call = self.call
        data = request_bytes(request, self.agent)
        place = self._connections.take(request.origin, call)
        is_kept = False
        try:
            call.hold(place)
            call.send(place, data)
            reader = AnswerReader(lambda: call.receive(place), request.method)
            answer = reader.answer
            answer.body = self._read(reader)
            is_kept = reader.is_reusable
        finally:
            call.hold(None)
            if not is_kept:
                place.close()
        if is_kept:
            self._connections.give(request.origin, place)
        return answer

    def _read(self, reader: AnswerReader) -> bytes:
        """Return the body, decompressed; raise NoAnswer beyond the limit, or if it ends early."""
        answer = reader.answer
        decoder = Decoder(answer.header("content-encoding"), self._max_read)
        rest = b"" if answer.media in STREAMS and not decoder.name else None
        for part in reader.read_body():
            decoder.feed(part)
            if rest is not None:
                rest = self._notify(rest + part)
        return decoder.finish()

    def _notify(self, data: bytes) -> bytes:
        """Report the events of whole lines, and return the rest."""
        *lines, rest = data.split(b"\n")
        for line in lines if self.on_event is not None else ():
            event = str(line, "utf-8", "replace").removeprefix("data:").strip()
            if event and not event.startswith(FIELDS_OF_EVENTS):
                self.on_event(event)  # type: ignore[misc]
        return rest


class Decoder:
    """Decompresses the parts of a body, up to a limit."""

    def __init__(self, encoding: str, limit: int) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise NoAnswer(f"the answer is compressed in an unknown way (`{name[:40]}`)")
        self.name = name if name != "identity" else ""
        self._inflate: Any = None
        self._parts: list[bytes] = []
        self._rest = limit
        self._limit = limit

    def feed(self, chunk: bytes) -> None:
        """Take a part of the body; raise NoAnswer beyond the limit."""
        if not self.name:
            self._keep(chunk)
            return
        if self._inflate is None:
            has_head = chunk[0] & 15 == ZLIB_METHOD  # servers send `deflate` with and without it
            bits = 16 + zlib.MAX_WBITS if "gzip" in self.name else zlib.MAX_WBITS if has_head else -zlib.MAX_WBITS
            self._inflate = zlib.decompressobj(bits)
        while chunk and not self._inflate.eof:
            try:
                self._keep(self._inflate.decompress(chunk, CHUNK))
            except zlib.error:
                raise NoAnswer("the answer cannot be decompressed") from None
            chunk = self._inflate.unconsumed_tail

    def _keep(self, data: bytes) -> None:
        self._rest -= len(data)
        if self._rest < 0:
            raise NoAnswer(f"the answer has more than {self._limit:,} bytes, and was not read to its end")
        self._parts.append(data)

    def finish(self) -> bytes:
        """Return the whole."""
        if self._inflate is not None:
            self._keep(self._inflate.flush())
            if not self._inflate.eof:
                raise NoAnswer("the answer ended before its end")
        return b"".join(self._parts)


def is_passing(problem: Exception) -> bool:
    """Tell whether another attempt may succeed."""
    # What took its time would take it again, and the others would end in the same way.
    return not isinstance(problem, AddressRefused | ssl.SSLCertVerificationError | TimeoutError | socket.gaierror)


def reason_of(problem: Exception, request: OutgoingRequest) -> str:
    """Return why there is no answer, for a model."""
    host = f"{request.origin.host}:{request.origin.port}"
    if isinstance(problem, AddressRefused):
        return str(problem)
    if isinstance(problem, TimeoutError):
        return f"{host} did not answer in time"
    if isinstance(problem, socket.gaierror):
        return f"the name `{request.origin.host}` is not known"
    if isinstance(problem, ssl.SSLError):
        return f"no secure connection to {host}: {problem.reason or problem}"
    detail = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return f"{host}: {detail}"


def backoff(attempt: int) -> float:
    """Return the seconds before the next attempt: more each time, and never the same for two callers."""
    return 0.2 * 4.0**attempt * (0.5 + urandom(1)[0] / 255)


def pause_before_retry(answer: HttpAnswer, attempt: int, repeatable: bool) -> float | None:
    """Return the seconds after which a request is sent again, None if its answer is final."""
    asked = retry_after(answer)
    if answer.status in BUSY and asked is not None:
        # A request that was counted and refused (429) did nothing, so that any may be sent again.
        return asked if asked < PATIENCE and (repeatable or answer.status not in FAILING) else None
    return backoff(attempt) if answer.status in FAILING and repeatable else None


def retry_after(answer: HttpAnswer) -> float | None:
    """Return the seconds after which the server asks to come back."""
    text = answer.header("retry-after").strip()
    if text.isascii() and text.isdigit():
        # Nine digits are longer than any call waits.
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time()) if text else None
    except (TypeError, ValueError, OverflowError):
        return None


def redirect_target(request: OutgoingRequest, answer: HttpAnswer) -> str | None:
    """Return the target of a redirect that is followed, None for any other answer."""
    place = answer.header("location")
    if answer.status not in REDIRECTS or not place or request.method not in ("GET", "HEAD"):
        return None
    return target_within(request, place)


def target_within(request: OutgoingRequest, place: str) -> str | None:
    """Return the target of an address if it is of the same origin as a request, else None."""
    try:
        parts = urlsplit(urljoin(f"{request.origin}{request.target}", place))
        port = PORTS.get(parts.scheme) if parts.port is None else parts.port
    except ValueError:
        return None
    same = (parts.scheme, parts.hostname, port) == (request.origin.scheme, request.origin.host, request.origin.port)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return target if same and target.isascii() and target.isprintable() and " " not in target else None


def moved(request: OutgoingRequest, target: str) -> OutgoingRequest:
    """Return a request for another target of the same origin."""
    path, _, query = target.partition("?")
    there = OutgoingRequest(request.method, request.origin, path)
    there.query = query.split("&") if query else []
    there.headers, there.cookies, there.renamed = request.headers, request.cookies, request.renamed
    there.repeatable = request.repeatable
    return there
