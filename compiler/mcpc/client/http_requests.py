"""Requests over HTTP to one server: headers, limits of time and bytes, refusals in words, and events of responses.

Headers may be secrets, so that redirects are not followed.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from http.client import HTTPException
from typing import IO, TYPE_CHECKING, Any

from mcpc.client.client import AnsweredError, ConversationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.client.client import Deadline

    Object = dict[str, Any]

EVENT_STREAM = "text/event-stream"
CHUNK = 1 << 16
MAX_LINE = 16 << 20
STATUSES = {
    401: "it wants a token: use `--token-file FILE` or `--header 'Authorization: …'`",
    403: "it refuses this token, or this client",
    404: "there is nothing at this address; the endpoint of MCP is often `/mcp`, and `/sse` of older servers",
    405: "this address takes no messages of MCP; the endpoint is often `/mcp`, and `/sse` of older servers",
}
MESSAGE = b"message"
"""The name of an event that has none."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Makes a redirect an answer like any other, which is an error."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


class HttpRequests:
    """Requests with the same headers."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)
        self._opener = urllib.request.build_opener(_NoRedirects)

    def send_message(self, url: str, message: Object, more: Mapping[str, str], deadline: Deadline) -> Any:
        """Return the context of the response to a message; raise ConversationError."""
        headers = {"Accept": f"application/json, {EVENT_STREAM}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, json.dumps(message).encode(), {**headers, **self._headers, **more})
        return self._opened(request, str(message.get("method")), deadline)

    def get_stream(self, url: str, deadline: Deadline) -> Any:
        """Return the context of the response to a request for events; raise ConversationError."""
        headers = {"Accept": EVENT_STREAM, "Cache-Control": "no-store", **self._headers}
        return self._opened(urllib.request.Request(url, headers=headers), "GET", deadline)

    def delete(self, url: str, more: Mapping[str, str], seconds: float) -> None:
        """Ask the server to end a session, which it need not support."""
        request = urllib.request.Request(url, headers={**self._headers, **more}, method="DELETE")
        try:
            self._opener.open(request, timeout=seconds).close()
        # Nothing depends on it: a server may answer 405, or be gone.
        except (OSError, HTTPException):
            return

    @contextmanager
    def _opened(self, request: urllib.request.Request, method: str, deadline: Deadline) -> Iterator[Any]:
        try:
            with self._opener.open(request, timeout=deadline.seconds()) as response:
                yield response
        except urllib.error.HTTPError as problem:
            # The error is the response, too, which has to be closed.
            with problem:
                raise _refusal(problem, method, deadline) from None
        # Errors in the block of the caller, who reads the response, arrive here as well.
        except TimeoutError:
            raise ConversationError("it did not answer in time") from None
        except (urllib.error.URLError, HTTPException, OSError) as problem:
            raise ConversationError(f"no connection: {getattr(problem, 'reason', problem)}") from None


def _refusal(problem: urllib.error.HTTPError, method: str, deadline: Deadline) -> ConversationError:
    """Return the error of an unsuccessful response: MCP's if its body has one, else that of the status."""
    body = b""
    with suppress(HTTPException, OSError):  # the status says enough
        body = read_body(problem, deadline)
    error = as_object(body).get("error")
    refusal: ConversationError
    if isinstance(error, dict):
        refusal = AnsweredError(method, error.get("code"), error.get("message"))
    else:
        refusal = ConversationError(STATUSES.get(problem.code, f"its answer has status {problem.code}"))
    refusal.status = problem.code
    return refusal


def read_lines(response: IO[bytes], deadline: Deadline) -> Iterator[bytes]:
    """Yield the lines of a response; raise ConversationError beyond the limits."""
    while line := response.readline(MAX_LINE):
        deadline.count(len(line))
        deadline.seconds()
        yield line


def read_body(response: Any, deadline: Deadline) -> bytes:
    """Return the bytes of a response; raise ConversationError beyond the limits."""
    body = bytearray()
    while chunk := response.read(CHUNK):
        deadline.count(len(chunk))
        deadline.seconds()
        body += chunk
    return bytes(body)


def as_object(body: bytes) -> Object:
    """Return the JSON object that bytes are; an empty one for other bytes."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def events(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and data of each event of a stream's lines; an event that the stream's end cuts is dropped."""
    name, data = MESSAGE, list[bytes]()
    for raw in lines:
        line = raw.rstrip(b"\r\n")
        # A line that begins with a colon is a comment: its field has no name (server-sent events, WHATWG HTML).
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
        if not line:
            if data:
                yield name, b"\n".join(data)
            name, data = MESSAGE, []


def event_data(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of each event of a stream's lines."""
    yield from (data for _, data in events(lines))
