"""The API of a case, on loopback: it answers requests with the responses that the case has, and keeps the requests.

The server finds it by the settings that have the addresses of its requests; no other part of the built file knows of
it.  Cases with responses run alone, so that what comes belongs to the case that runs.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpc.workbench.testing.model import SentRequest, StubResponse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.workbench.testing.model import Case, Reply, Variant
    from mcpc.workbench.testing.servers import Connection

MAX_BODY = 64 << 20
UNANSWERED = StubResponse(501, {"Content-Type": "text/plain"}, b"mcpc test: the case has no response for this request")
# Statuses whose responses have no content (RFC 9110, section 6.4.1).
WITHOUT_BODY = (204, 304)


@dataclass(slots=True)
class Exchange:
    """The requests of one call.  `left`: the responses that are still to come; `is_repeated`: the one is for all."""

    left: list[StubResponse]
    is_repeated: bool
    requests: list[SentRequest] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: SentRequest) -> StubResponse:
        """Keep a request; return the first response left that is for it."""
        with self.lock:
            self.requests.append(request)
            for response in self.left:
                if response.to in ("", request.line):
                    if not self.is_repeated:
                        self.left.remove(response)
                    return response
            self.unanswered.append(request.line)
        return UNANSWERED


class ApiStub(ThreadingHTTPServer):
    """Listens on a free port.  `exchange`: of the call that runs now."""

    daemon_threads = True
    # The default is 5, and a pipeline may send many requests at a time.
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), StubHandler)
        self.exchange = Exchange([], is_repeated=False)

    def addresses(self, bases: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
        """Return the settings that lead requests here, with the paths that their addresses have without it."""
        paths = {name: urlsplit(environment.get(name) or base).path for name, base in bases.items()}
        return {name: f"http://127.0.0.1:{self.server_port}{path}" for name, path in paths.items()}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a server that ends closes its connections."""


class StubHandler(BaseHTTPRequestHandler):
    """Answers requests of any method."""

    protocol_version = "HTTP/1.1"
    server: ApiStub

    def handle_one_request(self) -> None:
        """Read one request, whatever its method, and answer it."""
        self.raw_requestline = self.rfile.readline(1 << 16)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        size = int(self.headers.get("Content-Length", "0"))
        if size > MAX_BODY:
            self.close_connection = True
            self.send_error(413)
            return
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            known = headers.get(name.lower())
            # Lines of one field are one value with commas between (RFC 9110, section 5.3).
            headers[name.lower()] = value if known is None else f"{known}, {value}"
        self._send(self.server.exchange.answer(SentRequest(self.command, self.path, headers, self.rfile.read(size))))

    def _send(self, response: StubResponse) -> None:
        self.send_response_only(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status not in WITHOUT_BODY:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if response.status not in WITHOUT_BODY and self.command != "HEAD":
            self.wfile.write(response.body)


@dataclass(frozen=True, slots=True)
class AnsweredConnection:
    """A server whose requests the stub answers."""

    connection: Connection
    stub: ApiStub

    def call(self, case: Case, variant: Variant) -> Reply:
        """Return the reply to the call of a case, with its requests; raise ConversationError if there is none."""
        responses: Sequence[StubResponse] = case.responses or ()
        exchange = self.stub.exchange = Exchange([*responses], case.is_repeated)
        reply = self.connection.call(case, variant)
        unused = () if case.is_repeated else tuple(each.to or f"status {each.status}" for each in exchange.left)
        return replace(reply, requests=tuple(exchange.requests), unanswered=tuple(exchange.unanswered), unused=unused)


@contextmanager
def api_stub() -> Iterator[ApiStub]:
    """Serve an API while the block runs."""
    with ApiStub() as stub:
        # The interval, in seconds, is how long `shutdown` may wait.
        thread = threading.Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield stub
        finally:
            stub.shutdown()
            thread.join()
