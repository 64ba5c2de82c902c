"""A server at an address of revision 2024-11-05 (HTTP+SSE): it answers on a stream that a GET opens.

The first event of the stream names where messages are posted.  That has to be at the same server, because the headers,
which may be secrets, are sent there, too.
"""

from __future__ import annotations

from contextlib import ExitStack
from http.client import HTTPException
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from mcpc.client.client import ConversationError
from mcpc.client.http_requests import EVENT_STREAM, MAX_LINE, MESSAGE, as_object, events, read_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.client.client import Deadline
    from mcpc.client.http_requests import HttpRequests

    Object = dict[str, Any]

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
            self._deadline.seconds()
            yield line
