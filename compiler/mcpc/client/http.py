"""A server at an address: each message is a POST (Streamable HTTP), answered by JSON or by an event stream.

Where the address refuses the first message as one of revision 2024-11-05 does, that transport is tried
(`LegacySseTransport`).  Headers may be secrets: none goes over an unencrypted connection to another machine.
"""

from __future__ import annotations

import base64
import json
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from mcpc.client.client import INITIALIZE, STATELESS, ConversationError, refusal
from mcpc.client.http_requests import (
    EVENT_STREAM,
    MAX_LINE,
    MESSAGE,
    HttpRequests,
    as_object,
    event_data,
    events,
    read_body,
    read_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.client.client import Deadline

    Object = dict[str, Any]


SESSION, VERSION, METHOD = "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method"
NAME = "Mcp-Name"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose stateless requests repeat this parameter in the header NAME."""
LEAVE_SECONDS = 2.0
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class UnsafeAddressError(ValueError):
    """Headers would be sent to another machine without encryption."""


class HttpTransport:
    """The connection to an address.  `headers_of`: headers that repeat a part of a stateless request."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.answer: Callable[[Object], Object] = refusal
        self.headers_of: Callable[[Object], Mapping[str, str]] = name_header
        self._url = url
        self._requests = HttpRequests(headers)
        self._revision = self._session = ""
        self._older: LegacySseTransport | None = None

    def use_revision(self, version: str) -> None:
        """Name the revision in all further requests."""
        self._revision = version

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Send a message that has no response."""
        if self._older is not None:
            self._older.notify(message, deadline)
            return
        with self._post(message, deadline) as response:
            read_body(response, deadline)

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request, and return its response."""
        if self._older is not None:
            return self._older.request(message, deadline)
        try:
            return self._posted(message, deadline)
        except ConversationError as problem:
            if message["method"] != INITIALIZE or problem.status not in STATUSES:
                raise
            self._older = self._older_stream(problem, deadline)
        return self._older.request(message, deadline)

    def _posted(self, message: Object, deadline: Deadline) -> Object:
        with self._post(message, deadline) as response:
            # Given with the answer to `initialize`, and sent with all that follows (MCP 2025-06-18, Transports).
            self._session = response.headers.get(SESSION) or self._session
            for body in self._bodies(response, deadline):
                message_received = as_object(body)
                if "method" in message_received and message_received.get("id") is not None:
                    self.notify(self.answer(message_received), deadline)
                elif message_received.get("id") == message["id"] and (
                    "result" in message_received or "error" in message_received
                ):
                    return message_received
        raise ConversationError("its response has no answer of MCP")

    def _post(self, message: Object, deadline: Deadline) -> Any:
        """Return the context of the response to a message."""
        more = {SESSION: self._session} if self._session else {}
        more |= {VERSION: self._revision} if self._revision else {}
        if self._revision == STATELESS and "method" in message:
            more |= {METHOD: message["method"], **self.headers_of(message)}
        return self._requests.send_message(self._url, message, more, deadline)

    def _older_stream(self, refused: ConversationError, deadline: Deadline) -> LegacySseTransport:
        """Return the stream of a server of revision 2024-11-05; raise the error of the others."""
        # Not `self.answer` itself, which may be replaced after the connection was made.
        stream = LegacySseTransport(self._requests, self._url, lambda message: self.answer(message))
        try:
            stream.open(deadline)
        except ConversationError as problem:
            stream.close()
            # Where a GET is refused as well, the answer to the POST tells more.
            raise (refused if isinstance(problem, NoStreamError) or problem.status else problem) from None
        return stream

    def _bodies(self, response: Any, deadline: Deadline) -> Iterator[bytes]:
        """Yield what may be messages: the data of events, or the whole response."""
        if response.headers.get_content_type() == EVENT_STREAM:
            yield from event_data(read_lines(response, deadline))
        else:
            yield read_body(response, deadline)

    def close(self) -> None:
        """Let the server end the session."""
        if self._older is not None:
            self._older.close()
        if self._session:
            self._requests.delete(self._url, {SESSION: self._session, VERSION: self._revision}, LEAVE_SECONDS)


def name_header(message: Object) -> dict[str, str]:
    """Return the header that repeats the name of a stateless request; none for requests without a name."""
    params, member = message.get("params"), NAMED.get(str(message.get("method")))
    return {NAME: header_value(params.get(member))} if member and isinstance(params, dict) else {}


def header_value(value: Any) -> str:
    """Return a value for a header: as it is if a header can have it, else in base64."""
    text = value if isinstance(value, str) else json.dumps(value)
    # A text that looks encoded is encoded, too: the server would decode it.
    if text.isascii() and text.isprintable() and text.strip() == text and not text.startswith("=?"):
        return text
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    return f"=?base64?{encoded}?="


def is_address(target: str) -> bool:
    """Tell whether a target is an address."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


@contextmanager
def connected(url: str, headers: Mapping[str, str]) -> Iterator[HttpTransport]:
    """Yield a connection to an address; raise UnsafeAddressError if headers would be readable by others."""
    parts = urlsplit(url)
    if headers and parts.scheme != "https" and parts.hostname not in LOOPBACK:
        raise UnsafeAddressError(url)
    transport = HttpTransport(url, headers)
    try:
        yield transport
    finally:
        transport.close()


ENDPOINT = b"endpoint"
STATUSES = frozenset({400, 404, 405})
"""How a server of this transport answers a message that is posted to the address of its stream."""


class NoStreamError(ConversationError):
    """There is no event stream at an address."""


class LegacySseTransport:
    """An open stream, and the address for messages."""

    def __init__(self, requests: HttpRequests, url: str, answer: Callable[[Object], Object]) -> None:
        self._requests = requests
        self._url = url
        self._answer = answer
        self._open = ExitStack()
        self._events: Iterator[tuple[bytes, bytes]] = iter(())
        self._endpoint = ""
        self._deadline: Deadline

    def open(self, deadline: Deadline) -> None:
        """Open the stream, and wait for the address of messages; raise ConversationError."""
        response = self._open.enter_context(self._requests.get_stream(self._url, deadline))
        if response.headers.get_content_type() != EVENT_STREAM:
            raise NoStreamError("it opens no event stream")
        self._events = events(self._lines(response))
        self._deadline = deadline
        name, data = self._next()
        endpoint = urljoin(self._url, data.decode("utf-8", "replace"))
        if name != ENDPOINT:
            raise ConversationError("the first event of its stream does not name the address of messages")
        # Another scheme or host would receive the headers, which may be secrets.
        if urlsplit(endpoint)[:2] != urlsplit(self._url)[:2]:
            raise ConversationError(f"it wants messages at another server, {endpoint!r}")
        self._endpoint = endpoint

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request, and return its response from the stream; raise ConversationError."""
        self.notify(message, deadline)
        self._deadline = deadline
        while True:
            name, data = self._next()
            received = as_object(data) if name == MESSAGE else {}
            if "method" in received and received.get("id") is not None:
                self.notify(self._answer(received), deadline)
            elif received.get("id") == message["id"] and ("result" in received or "error" in received):
                return received

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Post a message; raise ConversationError."""
        with self._requests.send_message(self._endpoint, message, {}, deadline) as response:
            read_body(response, deadline)

    def close(self) -> None:
        """Close the stream, and end the session with it."""
        self._open.close()

    def _next(self) -> tuple[bytes, bytes]:
        """Return the next event; raise ConversationError."""
        try:
            event = next(self._events, None)
        except TimeoutError:
            raise ConversationError("it did not answer in time") from None
        except (HTTPException, OSError) as problem:
            raise ConversationError(f"its event stream broke: {problem}") from None
        if event is None:
            raise ConversationError("its event stream ended before its answer")
        return event

    def _lines(self, response: IO[bytes]) -> Iterator[bytes]:
        """Yield the lines of the stream, within the limits of the request that waits."""
        while line := response.readline(MAX_LINE):
            self._deadline.count(len(line))
            # The socket's timeout is that of one read: a server that sends a comment now and then never reaches it.
            self._deadline.seconds()
            yield line
