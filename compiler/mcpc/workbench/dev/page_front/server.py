"""The port of `mcpc dev --ui`, on this machine only.

Files of the page are for everybody who reaches the port.  What is asked about the project (`/ui/dev/…`) needs the token
that was printed with the page's address; all other requests go to the built server, which checks them itself.  Host and
Origin are checked here, too, so that no other site's page can use the port.
"""

from __future__ import annotations

import hmac
import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from mcpc.workbench.dev.page_front.cases import CaseError, case_of
from mcpc.workbench.dev.page_front.relay import connect_within, relay, request_head
from mcpc_runtime.http.origins import OriginCheck
from mcpc_runtime.http.page_files import PATH, page_reply
from mcpc_runtime.http.replies import JSON, PROTECTED
from mcpc_runtime.http.settings import HttpSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcpc.workbench.dev.page_front.history import BuildHistory
    from mcpc_runtime.http.replies import Reply

DEV = f"{PATH}dev/"
WAIT_SECONDS = 20.0
START_SECONDS = 15.0
"""How long a request waits for a server that is being replaced."""
IDLE_SECONDS = 120
HEAD_SECONDS = 10.0
"""How long the head of a request may take after its first byte."""
MAX_CONNECTIONS = 64
"""Connections at once, each with a thread; further ones are closed."""
MAX_BODY = 4 << 20
NOT_BUILT = "the project cannot be built yet: the page shows why"
GONE = "the server did not start"
DENIED = "the token of this page is wrong: open the address that mcpc dev printed"


@dataclass(frozen=True, slots=True)
class Front:
    """What the port serves: `port` is that of the built server; `save` adds a test case and returns its file."""

    token: str
    port: int
    target: str
    files: Mapping[str, bytes]
    history: BuildHistory
    save: Callable[[dict[str, Any]], Path]


class PageServer(ThreadingHTTPServer):
    """Listens at an address of this machine; `port` 0: any free one."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, front: Front) -> None:
        self.front = front
        self.origin_check = OriginCheck(HttpSettings())
        self._places = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__((host, port), PageHandler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread, if there is a place."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, *_: object) -> None:
        """Ignore connections that break: the page tries again."""


class PageHandler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server: PageServer

    def log_message(self, *_: object) -> None:
        """Log nothing: calls are logged where they are run."""

    def handle_one_request(self) -> None:
        """Read a request and answer it; the connection ends if its head is not there in time."""
        try:
            is_whole = b"\r\n\r\n" in self.rfile.peek()  # type: ignore[attr-defined] # it is buffered
        except OSError:
            self.close_connection = True
            return
        self._late = threading.Timer(HEAD_SECONDS, self._shut_down)
        if not is_whole:
            self._late.start()
        try:
            super().handle_one_request()
        finally:
            self._late.cancel()

    def _shut_down(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def serve_request(self) -> None:
        """Answer a request here, or relay it."""
        self._late.cancel()
        path = urlsplit(self.path).path
        if path.startswith(PATH) or path == PATH[:-1]:
            refused = self.server.origin_check.check(self._fields())
            reply = error_reply(*refused) if refused[0] else self._answer(path)
            if reply is not None:
                self._send(reply)
                return
        self._relay()

    do_GET = do_HEAD = do_POST = do_DELETE = do_OPTIONS = do_PUT = serve_request  # noqa: N815

    def _fields(self) -> dict[bytes, bytes]:
        return {name.lower().encode("latin-1"): value.encode("latin-1") for name, value in self.headers.items()}

    def _answer(self, path: str) -> Reply | None:
        """Return the reply of the front; None for what the built server answers."""
        front = self.server.front
        if path == PATH[:-1]:
            return 308, [(b"location", PATH.encode()), *PROTECTED], b""
        if path == f"{PATH}facts":
            return json_reply({"endpoint": "/mcp", "token": False, "dev": True, "target": front.target})
        if path.startswith(DEV):
            return self._answer_project(path.removeprefix(DEV))
        if self.command not in ("GET", "HEAD"):
            return None
        return page_reply(path, lambda name: read_file(front.files, name)) or None

    def _answer_project(self, name: str) -> Reply:
        """Return the reply to a request about the project."""
        front = self.server.front
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), front.token.encode()):
            return error_reply(401, DENIED)
        if name == "builds" and self.command == "GET":
            after = parse_qs(urlsplit(self.path).query).get("after", ["0"])[0]
            return json_reply(front.history.wait(int(after) if after.isdecimal() else 0, WAIT_SECONDS))
        if name == "tests" and self.command == "POST":
            return self._save_case()
        return error_reply(404, "there is no such request")

    def _save_case(self) -> Reply:
        front = self.server.front
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            return error_reply(415, "the Content-Type must be application/json")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            return error_reply(413, f"expected a body of at most {MAX_BODY} bytes")
        try:
            path = front.save(case_of(json.loads(self.rfile.read(int(length)))))
        except (CaseError, RecursionError, ValueError, OSError) as problem:
            return error_reply(400, str(problem))
        return json_reply({"path": f"{path.parent.name}/{path.name}"})

    def _send(self, reply: Reply) -> None:
        status, headers, body = reply
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name.decode(), value.decode())
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _relay(self) -> None:
        """Pass the request to the built server, and its answer back; the connection ends with it."""
        self.close_connection = True
        front = self.server.front
        connection = connect_within(front.port, START_SECONDS, lambda: front.history.is_serving)
        if connection is None:
            self._send(error_reply(503, GONE if front.history.is_serving else NOT_BUILT))
            return
        self.connection.settimeout(None)  # a stream may be quiet for long
        relay(request_head(self.requestline, self.headers.items()), self.connection, self.rfile, connection)


def read_file(files: Mapping[str, bytes], name: str) -> bytes:
    """Return a file of the page; raise FileNotFoundError."""
    if name not in files:
        raise FileNotFoundError(name)
    return files[name]


def json_reply(value: dict[str, Any]) -> Reply:
    """Return a reply with a JSON value."""
    return 200, JSON, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def error_reply(status: int, message: str) -> Reply:
    """Return a reply that refuses a request."""
    return status, JSON, json.dumps({"error": {"code": -32600, "message": message}}).encode()
