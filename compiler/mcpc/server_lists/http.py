"""A server at an address: each message is a POST (Streamable HTTP), answered by JSON or by an event stream.

Headers may be secrets, so that redirects are not followed, and no header goes over an unencrypted connection to another
machine.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.client import HTTPException
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpc.server_lists.client import STATELESS, AnsweredError, ConversationError, refusal
from mcpc.server_lists.event_streams import event_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.server_lists.client import Deadline

    Object = dict[str, Any]

ACCEPT = "application/json, text/event-stream"
SESSION, VERSION, METHOD = "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method"
NAME = "Mcp-Name"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose stateless requests repeat this parameter in the header NAME."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
CHUNK = 1 << 16
MAX_LINE = 16 << 20
STATUSES = {
    401: "it wants a token: use `--token-file FILE` or `--header 'Authorization: …'`",
    403: "it refuses this token, or this client",
    404: "there is nothing at this address; the endpoint of MCP is often `/mcp`",
}


class UnsafeAddressError(ValueError):
    """Headers would be sent to another machine without encryption."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Makes a redirect an answer like any other, which is an error."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


class HttpTransport:
    """The connection to an address.  `headers_of`: headers that repeat a part of a stateless request."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.answer: Callable[[Object], Object] = refusal
        self.headers_of: Callable[[Object], Mapping[str, str]] = name_header
        self._url = url
        self._headers = dict(headers)
        self._revision = self._session = ""
        self._opener = urllib.request.build_opener(_NoRedirects)

    def use_revision(self, version: str) -> None:
        """Name the revision in all further requests."""
        self._revision = version

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Send a message that has no response."""
        with self._post(message, deadline) as response:
            self._body(response, deadline)

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request, and return its response."""
        with self._post(message, deadline) as response:
            self._session = response.headers.get(SESSION) or self._session
            for body in self._bodies(response, deadline):
                found = _object(body)
                if "method" in found and found.get("id") is not None:
                    self.notify(self.answer(found), deadline)
                elif found.get("id") == message["id"] and ("result" in found or "error" in found):
                    return found
        raise ConversationError("its response has no answer of MCP")

    @contextmanager
    def _post(self, message: Object, deadline: Deadline) -> Iterator[Any]:
        headers = {"Accept": ACCEPT, "Content-Type": "application/json", **self._headers}
        headers |= {SESSION: self._session} if self._session else {}
        headers |= {VERSION: self._revision} if self._revision else {}
        if self._revision == STATELESS:
            headers |= {METHOD: message["method"], **self.headers_of(message)}
        request = urllib.request.Request(self._url, json.dumps(message).encode(), headers)
        try:
            with self._opener.open(request, timeout=deadline.seconds()) as response:
                yield response
        except urllib.error.HTTPError as problem:
            with problem:
                raise self._refusal(problem, str(message.get("method")), deadline) from None
        except TimeoutError:
            raise ConversationError("it did not answer in time") from None
        except (urllib.error.URLError, HTTPException, OSError) as problem:
            raise ConversationError(f"no connection: {getattr(problem, 'reason', problem)}") from None

    def _refusal(self, problem: urllib.error.HTTPError, method: str, deadline: Deadline) -> ConversationError:
        """Return the error of an unsuccessful response: MCP's if its body has one, else that of the status."""
        error = _object(self._body(problem, deadline)).get("error")
        if isinstance(error, dict):
            return AnsweredError(method, error.get("code"), error.get("message"))
        return ConversationError(STATUSES.get(problem.code, f"its answer has status {problem.code}"))

    def _bodies(self, response: Any, deadline: Deadline) -> Iterator[bytes]:
        """Yield what may be messages: the data of events, or the whole response."""
        if response.headers.get_content_type() == "text/event-stream":
            yield from event_data(self._lines(response, deadline))
        else:
            yield self._body(response, deadline)

    def _lines(self, response: IO[bytes], deadline: Deadline) -> Iterator[bytes]:
        while line := response.readline(MAX_LINE):
            deadline.count(len(line))
            deadline.seconds()
            yield line

    def _body(self, response: Any, deadline: Deadline) -> bytes:
        found = bytearray()
        while chunk := response.read(CHUNK):
            deadline.count(len(chunk))
            deadline.seconds()
            found += chunk
        return bytes(found)

    def close(self) -> None:
        """Let the server end the session."""
        if not self._session:
            return
        headers = {**self._headers, SESSION: self._session, VERSION: self._revision}
        request = urllib.request.Request(self._url, headers=headers, method="DELETE")
        try:
            self._opener.open(request, timeout=2).close()
        except (OSError, HTTPException):
            return  # a server need not support it


def _object(body: bytes) -> Object:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def name_header(message: Object) -> dict[str, str]:
    """Return the header that repeats the name of a stateless request; none for requests without a name."""
    params, member = message.get("params"), NAMED.get(str(message.get("method")))
    return {NAME: header_value(params.get(member))} if member and isinstance(params, dict) else {}


def header_value(value: Any) -> str:
    """Return a value for a header: as it is if a header can have it, else in base64."""
    text = value if isinstance(value, str) else json.dumps(value)
    if text.isascii() and text.isprintable() and text.strip() == text and not text.startswith("=?"):
        return text
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    return f"=?base64?{encoded}?="


def is_address(target: str) -> bool:
    """Tell whether a target is an address."""
    return urlsplit(target).scheme in ("http", "https") and bool(urlsplit(target).hostname)


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
