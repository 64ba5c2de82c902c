"""One connection of the embedded server: uvicorn's protocol with strictly parsed heads, and limits of time and memory.

Heads are read here, and bodies of a known length.  A chunked body is buffered and decoded when the application reads
it, which is after authentication; the connection is closed after it.  At most one request of a connection is answered
at a time; what a client sends ahead is buffered.  `check_limits` checks the time limits, twice a second.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Transport
from collections.abc import Callable
from http import HTTPStatus
from socket import SO_LINGER, SOL_SOCKET
from struct import pack

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from mcpc_runtime.http.embedded.cycle import RequestCycle
from mcpc_runtime.http.embedded.messages import (
    CHUNKED,
    END,
    BadRequestError,
    ChunkedBody,
    Pairs,
    RequestHead,
    check_beginning,
    parse,
)
from mcpc_runtime.http.memory_budget import CONNECTION_COST, CONNECTIONS, FREE_AHEAD
from mcpc_runtime.http.replies import Answer, Client, Message, PendingReply, Reply
from mcpc_runtime.http.request import FULL
from mcpc_runtime.http.server_log import FIRST_REFUSAL, RefusalLog
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.log import log_failure, log_line

AnswerNow = Callable[[RequestHead, bytes, Client], tuple[Answer, Pairs] | None]


NEVER = float("inf")
MAX_AHEAD = 1 << 16
"""Maximum bytes that are read ahead while a request is answered."""
LINGER_SECONDS = 2.0
"""How long input is ignored after a refusal: if the connection were closed at once, the client might not see it."""
MAX_CACHED_LENGTH, MAX_CACHED = 2048, 512
"""Maximum length and number of cached heads."""
PROGRESS = 1 << 14
"""Bytes that a client has to accept in `write_seconds`."""
# `struct linger` with zero seconds: closing sends a reset instead of what is left in the system's buffer.
RESET_ON_CLOSE = pack("ii", 1, 0)
CLOSE, CLOSE_LINE = (b"connection", b"close"), b"connection: close\r\n"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
cached_heads: dict[bytes, RequestHead] = {}
"""Valid heads by their bytes: to parse one takes longer than most answers."""
NO_PAIRS: Pairs = []
STATUS_LINES = {status.value: b"HTTP/1.1 %d %b\r\n" % (status.value, status.phrase.encode()) for status in HTTPStatus}


class Connection(H11Protocol):
    """One connection with a client."""

    def __init__(
        self,
        settings: HttpSettings,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        loop: AbstractEventLoop,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.cycle: RequestCycle | None = None  # type: ignore[assignment]
        self.settings = settings
        self.deadline = NEVER
        self._buffered = b""
        self._closes_after_answer = False
        self._is_closing = False
        self._answer_now: AnswerNow | None = getattr(config.loaded_app, "answer_now", None)
        self._refusal_log: RefusalLog | None = getattr(config.loaded_app, "refusal_log", None)
        self._missing_body = 0
        self._sent = 0
        self._budget = settings.budget
        self._charged = 0
        self._write_progress = (0, NEVER)
        self._default: tuple[object, bytes] = (None, b"")

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin; refuse the connection if there are too many."""
        super().connection_made(transport)
        self.deadline = self.loop.time() + self.settings.header_seconds
        is_full = len(self.connections) > self.settings.max_connections > 0
        if is_full or not self._charge():
            self._is_closing = True
            self._log_refusal(503, "too many connections")
            self.write(BUSY)
            transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        """Release what is charged, and end the request that is being answered."""
        self.connections.discard(self)
        self._budget.release(CONNECTIONS, self._charged)
        self._charged = 0
        self._is_closing, self._buffered = True, b""
        if self.cycle is not None:
            self.cycle.disconnected()
            self.cycle = None
        self.flow.resume_writing()

    def data_received(self, data: bytes) -> None:
        """Read requests or the rest of a body; refuse what exceeds the memory budget."""
        if self._is_closing:
            return
        if type(data) is not bytes:  # the loop for Windows of Python 3.11 passes a bytearray
            data = bytes(data)
        if self.cycle is None:
            self._read_requests(self._buffered + data if self._buffered else data)
        elif self.cycle.chunks is not None:
            self.cycle.feed_chunks(data)
        else:
            self._receive_body(self.cycle, data)
        # Most requests arrive and are answered whole, and leave nothing to charge.
        if self._buffered or self._charged != CONNECTION_COST or (self.cycle is not None and self.cycle.buffered):
            self._charge_or_refuse()

    def _charge_or_refuse(self) -> None:
        if self._is_closing or self._charge():
            return
        if self.cycle is None or not self.cycle.started:
            self.refuse(503, FULL)
        elif self.cycle.buffered:
            self.abort()
        else:  # the answer continues, and the connection is closed after it
            self._buffered, self._closes_after_answer = b"", True
            self.pause()

    def body_read(self) -> None:
        """Charge nothing for the part of the body that the application has read."""
        if self._charged != CONNECTION_COST:
            self._charge()

    def _charge(self) -> bool:
        """Charge the connection and what it has buffered; False if the memory budget has no room for it."""
        cycle = self.cycle
        extra = max(0, len(self._buffered) + (0 if cycle is None else cycle.buffered) - FREE_AHEAD)
        size = CONNECTION_COST + extra
        if size > self._charged:
            leaving = self._budget.for_new_connections if extra else 0
            if not self._budget.charge(CONNECTIONS, size - self._charged, leaving):
                return False
        elif size < self._charged:
            self._budget.release(CONNECTIONS, self._charged - size)
        self._charged = size
        return True

    def _receive_body(self, cycle: RequestCycle, data: bytes) -> None:
        """Pass on more of the body of a request; buffer what follows it."""
        if self._missing_body:
            part = data[: self._missing_body]
            data = data[len(part) :]
            self._missing_body -= len(part)
            cycle.feed(part, more=self._missing_body > 0)
            self.deadline = self.deadline if self._missing_body else NEVER
        self._buffered += data
        if len(self._buffered) > MAX_AHEAD:
            self.pause()

    def _read_requests(self, data: bytes) -> None:
        """Answer requests until one has to wait for its body or its answer."""
        self._buffered = b""
        try:
            while data and self.cycle is None and not self._is_closing:
                end = data.find(END) + len(END)
                if end < len(END):
                    self._buffer_head(data)
                    return
                head = cached_heads.get(data[:end]) or self._parse_head(data[:end])
                if head.length == CHUNKED:
                    self._begin_chunked(head, data[end:])
                    return
                stop = end + head.length
                self._missing_body = max(0, stop - len(data))
                self._answer_request(head, data[end:stop], more=self._missing_body > 0)
                data = data[stop:]
            self._buffered = data
        except BadRequestError as problem:
            self.refuse(problem.status, str(problem))

    def _begin_chunked(self, head: RequestHead, data: bytes) -> None:
        """Answer a request with a chunked body; the connection is closed after it."""
        self.deadline = self.loop.time() + self.settings.body_seconds
        cycle = RequestCycle(self, head, b"", more=True, chunks=ChunkedBody())
        cycle.closes = True
        self._start_cycle(cycle)
        cycle.feed_chunks(data)

    def body_ended(self) -> None:
        """Remove the time limit of a chunked body, which is complete."""
        self.deadline = NEVER

    def _buffer_head(self, data: bytes) -> None:
        """Buffer the beginning of a head; refuse it if it is malformed already."""
        check_beginning(data, self.settings.head_limit)
        self._buffered = data
        # Not later than before: bytes that trickle in must not extend the limit.
        self.deadline = min(self.deadline, self.loop.time() + self.settings.header_seconds)

    def _parse_head(self, data: bytes) -> RequestHead:
        """Return a head that is not cached, and cache it."""
        if len(data) > self.settings.head_limit:
            raise BadRequestError(431, "the head of the request is too long")
        head = parse(data)
        if len(data) <= MAX_CACHED_LENGTH:
            if len(cached_heads) >= MAX_CACHED:
                # Cleared as a whole, which is cheaper than an order of use; clients fill it again at once.
                cached_heads.clear()
            cached_heads[data] = head
        return head

    def _answer_request(self, head: RequestHead, body: bytes, *, more: bool) -> None:
        """Answer a request: at once if it is complete and the application has the answer, else in a task."""
        self.deadline = self.loop.time() + self.settings.body_seconds if more else NEVER
        try:
            can_answer = not more and not head.expects and self._answer_now is not None
            answered = self._answer_now(head, body, self.client) if can_answer and self._answer_now else None
        except Exception as problem:  # noqa: BLE001 - an error in one request is the answer to that request
            log_failure(problem)
            log_line(f"a request to {head.path} failed: {type(problem).__name__}: {problem}")
            self.refuse(500, "internal error")
            return
        if answered is None:
            self._start_cycle(RequestCycle(self, head, body, more=more))
            return
        answer, headers = answered
        if isinstance(answer, tuple):
            self._reply(head, answer, headers)
        else:
            self._start_cycle(RequestCycle(self, head, None), answer, headers)

    def _start_cycle(self, cycle: RequestCycle, answer: PendingReply | None = None, more: Pairs = NO_PAIRS) -> None:
        """Start the task that answers a request: the application's coroutine, or that of a pending reply."""
        self.cycle = cycle
        cycle.closes = cycle.closes or self._closes_after_answer
        if answer is None:
            answering = self.app(self.asgi_scope(cycle.head), cycle.receive, cycle.send)
        else:
            answering = answer.serve(cycle.receive, cycle.send, more)
        task = self.loop.create_task(cycle.run(answering, more))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _reply(self, head: RequestHead, reply: Reply, more: Pairs) -> None:
        """Send a reply, and end the request."""
        status, headers, body = reply
        # A reply that says it closes the connection has to, since the client does not reuse it.
        closes = head.closes or self._closes_after_answer or CLOSE in headers
        end = b"content-length: %d\r\n%b\r\n" % (len(body), CLOSE_LINE if closes and CLOSE not in headers else b"")
        self.write(self.response_head(status, headers + more if more else headers) + end + body)
        self._end_request(closes)

    def finish(self, cycle: RequestCycle, reply: Reply, more: Pairs) -> None:
        """Send the reply of a task, and end the request."""
        if self._refusal_log is not None and reply[0] >= FIRST_REFUSAL:
            self._refusal_log.add(reply[0], (cycle.head.method, cycle.head.path, self.client), reply[2])
        self.cycle = None
        self._reply(cycle.head, reply, more)

    def asgi_scope(self, head: RequestHead) -> Message:
        """Return the ASGI scope of a request; `mcpc.head`: its parsed head."""
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": head.version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": head.method,
            "root_path": "",
            "path": head.path,
            "raw_path": head.raw_path,
            "query_string": head.query,
            "headers": head.headers,
            "state": self.app_state.copy(),
            "mcpc.head": head,
        }

    def refuse(self, status: int, reason: str) -> None:
        """Refuse an unreadable request, and close the connection."""
        self._log_refusal(status, reason)
        body = reason.encode() + b"\n"
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        headers += [(b"x-content-type-options", b"nosniff"), (b"connection", b"close")]
        self.write(self.response_head(status, headers) + b"\r\n" + body)
        self._close_after_delay()

    def _log_refusal(self, status: int, reason: str) -> None:
        if self._refusal_log is not None:
            self._refusal_log.add_unreadable(status, self.client, reason)

    def _close_after_delay(self) -> None:
        """Close the connection after a moment in which input is ignored, so that the client receives the response."""
        self._is_closing, self._buffered = True, b""
        self.deadline = self.loop.time() + LINGER_SECONDS
        if self.cycle is not None:
            self.cycle.disconnected()
            self.cycle = None
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        try:
            self.transport.write_eof()
        except (OSError, RuntimeError):
            self.transport.close()

    def answer_ended(self, cycle: RequestCycle) -> None:
        """End a request whose answer was sent through ASGI."""
        self.cycle = None
        if self._charged != CONNECTION_COST:
            self._charge()
        # The rest of the body would be taken for the next request.
        if cycle.more:
            self._close_after_delay()
            return
        self._end_request(cycle.closes or self._closes_after_answer)

    def _end_request(self, closes: bool) -> None:
        """Close the connection after an answer, or read the next request, which may be buffered already."""
        self.server_state.total_requests += 1
        if closes:
            self._is_closing = True
            self.transport.close()
            return
        self.deadline = self.loop.time() + self.settings.idle_seconds
        if self.flow.read_paused:
            self.flow.resume_reading()
        if self._buffered:
            # In a later turn: this may be called in the task of the answer that has ended.
            self.loop.call_soon(self._read_buffered)

    def _read_buffered(self) -> None:
        """Answer the requests that the client sent ahead."""
        if self.cycle is None and self._buffered and not self._is_closing:
            self._read_requests(self._buffered)

    def write(self, data: bytes) -> None:
        """Write data, unless the connection is closing."""
        if not self.transport.is_closing():
            self._sent += len(data)
            self.transport.write(data)

    def response_head(self, status: int, headers: Pairs) -> bytes:
        """Return the head of an answer without its last empty line; the default headers change once a second."""
        default = self.server_state.default_headers
        if self._default[0] is not default:
            self._default = default, b"".join([b"%b: %b\r\n" % pair for pair in default])
        head = (STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status) + self._default[1]
        for pair in headers:
            head += b"%b: %b\r\n" % pair
        return head

    def pause(self) -> None:
        """Stop reading for now."""
        self.flow.pause_reading()

    def resume(self) -> None:
        """Continue to read."""
        self.flow.resume_reading()

    def abort(self) -> None:
        """Close the connection at once; unsent data is discarded, by the system too."""
        sock = self.transport.get_extra_info("socket")
        if sock is not None and not self.transport.is_closing():
            sock.setsockopt(SOL_SOCKET, SO_LINGER, RESET_ON_CLOSE)
        self.transport.abort()

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None

    def close_after_answer(self) -> None:
        """Close the connection after the answer that is under way, or the next one, which say so."""
        self._closes_after_answer = True
        if self.cycle is not None:
            self.cycle.closes = True

    def shutdown(self) -> None:
        """Close the connection as soon as no request is being answered."""
        self.close_after_answer()
        if self.cycle is None and not self._is_closing:
            self.transport.close()

    def check_limits(self, now: float) -> None:
        """Close the connection if a time limit has passed."""
        if now > self.deadline:
            self._expire()
        self._check_writing(now)

    def _expire(self) -> None:
        """Close the connection because its deadline has passed; refuse a request that did not arrive in time."""
        has_begun = self.cycle is not None and self.cycle.started
        if self._is_closing or has_begun:
            self.abort()
        elif self._buffered or self.cycle is not None:
            self.refuse(408, "the request did not arrive in time")
        else:
            self.transport.close()
            self.deadline = NEVER

    def _check_writing(self, now: float) -> None:
        """Close the connection if the client has not accepted enough data in time."""
        unsent = self.transport.get_write_buffer_size()
        accepted, until = self._write_progress
        if not unsent:
            self._write_progress = (0, NEVER)
        elif until == NEVER or self._sent - unsent - accepted >= PROGRESS:
            self._write_progress = (self._sent - unsent, now + self.settings.write_seconds)
        elif now > until:
            self.abort()
