"""The port of `mcpc dev --ui`, on this machine only: it serves the page and its own requests, and relays the rest.

A built server is replaced with each build, and there is none while the first build fails.  So the page and what it asks
about builds come from here: a failed build is shown in the page that is already open.

Files of the page are for everybody who reaches the port.  What is asked about the project (`/ui/dev/…`) needs the token
that was printed with the page's address; all other requests go to the built server, which checks them itself.  Host and
Origin are checked here, too, so that no other site's page can use the port.
"""

from __future__ import annotations

import hmac
import json
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from mcpc.workbench.dev.reporting import Reporter
from mcpc_runtime.http.origins import OriginCheck
from mcpc_runtime.http.page_files import PATH, page_reply
from mcpc_runtime.http.replies import JSON, PROTECTED
from mcpc_runtime.http.settings import HttpSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from io import BufferedIOBase
    from pathlib import Path

    from mcpc.client import ServerLists
    from mcpc.release.comparison import Change, Comparison
    from mcpc.workbench.dev.building import BuildFacts, BuildProblem, BuildResult
    from mcpc.workbench.dev.reporting import Screen
    from mcpc_runtime.http.replies import Reply

    Json = dict[str, Any]

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
PAUSE_SECONDS = 0.05
CHUNK = 1 << 16
PER_CONNECTION = frozenset({"connection", "keep-alive", "proxy-connection", "upgrade"})
KINDS = {"tool": str, "prompt": str, "resource": str, "complete": dict}
"""The fields that say what a case calls, and the types of their values."""
COMPLETE_FIELDS = ("prompt", "resource", "argument", "value")
MAX_NAME = 200
CASE_ERAS = ("handshake", "stateless")
MAX_BUILDS = 50
MAX_PROBLEMS = 200
MAX_CHANGES = 500
MAX_LINES = 500
MAX_LINE = 2000
"""Lines of standard error that are kept for the page, and characters of one."""


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
        # Most heads arrive at once, and a timer is a thread.
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
            # The body stays unread, and would be taken for the next request.
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
        # Where its body ends is not known here.
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
    return 200, JSON, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def error_reply(status: int, message: str) -> Reply:
    # Invalid Request of JSON-RPC 2.0.
    return status, JSON, json.dumps({"error": {"code": -32600, "message": message}}).encode()


def connect_within(port: int, seconds: float, is_wanted: Callable[[], bool]) -> socket.socket | None:
    """Return a connection to a local port, on which a server may be starting; None if there is none in time."""
    until = time.monotonic() + seconds
    while is_wanted():
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            if time.monotonic() >= until:
                return None
            time.sleep(PAUSE_SECONDS)
    return None


def request_head(line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return the head of a request, for a connection that ends with it."""
    kept = [f"{name}: {value}" for name, value in headers if name.lower() not in PER_CONNECTION]
    return "\r\n".join([line, *kept, "Connection: close", "", ""]).encode("latin-1", "replace")


def relay(head: bytes, client: socket.socket, body: BufferedIOBase, server: socket.socket) -> None:
    """Send a request, and pass its answer on until either side ends."""
    with server:
        server.sendall(head)
        threading.Thread(target=_send_body, args=(body, server), daemon=True).start()
        with suppress(OSError):
            while data := server.recv(CHUNK):
                client.sendall(data)
        # This also ends the thread that may still wait for the client.
        for each in (server, client):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def _send_body(body: BufferedIOBase, server: socket.socket) -> None:
    """Pass on what the client sends; when it has gone, the server has to know."""
    with suppress(OSError, ValueError):
        while data := body.read1(CHUNK):
            server.sendall(data)
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)


class CaseError(ValueError):
    """What the page sent is not a case; the message says what is wrong."""


def case_of(sent: Any) -> dict[str, Any]:
    """Return the case in what the page sent; raise CaseError."""
    if not isinstance(sent, dict):
        raise CaseError("expected an object")
    kind = next((kind for kind, wanted in KINDS.items() if isinstance(sent.get(kind), wanted)), None)
    if kind is None:
        raise CaseError("expected a `tool`, a `prompt`, a `resource` or an object `complete`")
    name, arguments, expect, era = (sent.get(key) for key in ("name", "arguments", "expect", "era"))
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise CaseError(f"expected a `name` on one line, of at most {MAX_NAME} characters")
    if not isinstance(arguments or {}, dict) or not isinstance(expect or {}, dict):
        raise CaseError("expected objects as `arguments` and `expect`")
    if era is not None and era not in CASE_ERAS:
        raise CaseError(f"expected `era` to be one of {', '.join(CASE_ERAS)}")
    called = completed_of(sent[kind]) if kind == "complete" else sent[kind]
    given = {"arguments": arguments if kind != "resource" else None, "era": era, "expect": expect}
    return {"name": name, kind: called} | {key: value for key, value in given.items() if value}


def completed_of(sent: dict[str, Any]) -> dict[str, str]:
    """Return what a case completes; raise CaseError."""
    fields = {key: sent[key] for key in COMPLETE_FIELDS if key in sent}
    if not all(isinstance(value, str) for value in fields.values()):
        raise CaseError("expected texts in `complete`")
    if "argument" not in fields or ("prompt" in fields) == ("resource" in fields):
        raise CaseError("expected `complete` to have an `argument`, and a `prompt` or a `resource`")
    return fields


class BuildHistory:
    """The last builds, and the last lines that the server wrote to standard error, each with the version that it made.

    Any thread may add and wait; `served` is the number of the build that is served, 0 for none.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._builds: list[Json] = []
        self._lines: deque[tuple[int, str]] = deque(maxlen=MAX_LINES)
        self._version = self._served = self._count = 0

    def add(self, build: BuildResult, summary: str, comparison: Comparison | None) -> None:
        changes = comparison.changes if comparison is not None else ()
        with self._changed:
            self._count += 1
            row = {
                "number": self._count,
                "ok": build.path is not None,
                "seconds": round(build.seconds, 3),
                "summary": summary,
                "problems": [problem_json(problem) for problem in build.problems[:MAX_PROBLEMS]],
                "more": build.more.strip("\n"),
                "changes": [change_json(each) for each in changes[:MAX_CHANGES]],
            }
            self._builds = [*self._builds, row][-MAX_BUILDS:]
            self._tell()

    def serve_last(self) -> None:
        with self._changed:
            self._served = self._count
            self._tell()

    def hear(self, line: str) -> None:
        """Add a line of standard error, for the page that has the token."""
        with self._changed:
            self._tell()
            self._lines.append((self._version, line.rstrip("\r\n")[:MAX_LINE]))

    def _tell(self) -> None:
        self._version += 1
        self._changed.notify_all()

    def wait(self, after: int, seconds: float) -> Json:
        """Return the builds, at once if something happened since version `after`, else when it does or time is over."""
        with self._changed:
            # A page from before a restart may have a greater version, and must not wait for that.
            if after == self._version:
                self._changed.wait_for(lambda: self._version != after, seconds)
            lines = [line for version, line in self._lines if version > after]
            return {"version": self._version, "served": self._served, "builds": list(self._builds), "log": lines}

    @property
    def is_serving(self) -> bool:
        """Whether a build is served, or was."""
        return self._served > 0


class PageReporter(Reporter):
    """Reports builds on the screen, and to the page.  `lists_of`: reads what a built file offers."""

    def __init__(self, screen: Screen, history: BuildHistory, lists_of: Callable[[Path], ServerLists]) -> None:
        super().__init__(screen)
        self._history = history
        self._lists_of = lists_of
        self._lists: ServerLists | None = None

    def first(self, build: BuildResult) -> None:
        super().first(build)
        self._record(build, "")

    def failed(self, build: BuildResult) -> None:
        super().failed(build)
        self._record(build, "")

    def rebuilt(self, earlier: BuildFacts, build: BuildResult) -> str:
        """Report a successful build, and return the report's line."""
        line = super().rebuilt(earlier, build)
        self._record(build, line.partition(": ")[2])
        return line

    def _record(self, build: BuildResult, summary: str) -> None:
        lists = self._lists_of(build.path) if build.path is not None else None
        comparison = None
        if self._lists is not None and lists is not None:
            from mcpc.release.comparison import compare  # noqa: PLC0415 - it imports much, and the first build has none

            comparison = compare(self._lists, lists)
        self._lists = lists or self._lists
        self._history.add(build, summary, comparison)


def problem_json(problem: BuildProblem) -> Json:
    """Return a problem for the page; `plain` is its whole text, with its place and the line."""
    return {
        "code": problem.code,
        "severity": problem.severity,
        "path": problem.path,
        "message": problem.message,
        "plain": problem.plain,
    }


def change_json(change: Change) -> Json:
    return {
        "verdict": str(change.verdict),
        "rule": change.rule,
        "location": change.location,
        "message": change.message,
        "old": change.old,
        "now": change.new,
    }
