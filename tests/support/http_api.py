"""An HTTP API for tests: it records what it gets, answers anything, and misbehaves where the path asks for it."""

import gzip
import json
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

JSON = {"Content-Type": "application/json"}
ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "array": (200, JSON, b'[{"id":1},{"id":2}]'),
    "bytes": (200, {"Content-Type": "application/octet-stream"}, bytes(range(4))),
    "broken": (200, JSON, b'{"id": 1, "name": '),
    "busy": (429, {**JSON, "Retry-After": "3600"}, b'{"error":"used up"}'),
    "created": (201, {"Location": "/pets/9"}, b""),
    "deflate": (200, {**JSON, "Content-Encoding": "deflate"}, zlib.compress(b'{"zip":1}')),
    "raw-deflate": (200, {**JSON, "Content-Encoding": "deflate"}, zlib.compress(b'{"zip":2}', wbits=-15)),
    "gzip": (200, {**JSON, "Content-Encoding": "gzip"}, gzip.compress(b'{"zip":3}')),
    "brotli": (200, {**JSON, "Content-Encoding": "br"}, b"x"),
    "empty": (204, {}, b""),
    "events": (200, {"Content-Type": "text/event-stream"}, b'data: {"a":1}\n\ndata: b\ndata: c\n\ndata: [DONE]\n\n'),
    "exactly": (200, JSON, b'"' + b"x" * 98 + b'"'),
    "one-more": (200, JSON, b'"' + b"x" * 99 + b'"'),
    "html": (500, {"Content-Type": "text/html"}, b"<head><title>T</title></head><h1>Oops &amp; <b>x</b></h1>" + b"y" * 600),
    "image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
    "latin": (200, {"Content-Type": "text/plain; charset=iso-8859-1"}, "tä".encode("latin-1")),
    "lines": (200, {"Content-Type": "application/x-ndjson"}, b'{"a":1}\n{"a":2}\n'),
    "many": (200, JSON, json.dumps([{"id": number} for number in range(10_000)]).encode()),
    "nested": (200, JSON, b'{"days":[{"date":1,"high":{"c":2},"low":3},{"date":3}],"city":{"name":"B","id":4},"more":5}'),
    "problem": (422, {"Content-Type": "application/problem+json"},
                b'{"type":"x","title":"Bad","detail":"`Time<` is wrong","status":422,"errors":["e"]}'),
    "redirect": (302, {"Location": "/landed?x=1"}, b""),
    "redirect-loop": (302, {"Location": "/do/redirect-loop"}, b""),
    "redirect-out": (302, {"Location": "http://127.0.0.2:9/stolen"}, b""),
    "scalar": (200, JSON, b"7"),
    "secret": (200, JSON, b'{"echo":"Bearer s3cr\\u0065t/\xc3\xbc","plain":"s3cret/\xc3\xbc"}'),
    "encoded": (403, {"Content-Type": "text/plain"}, "\n".join(
        ("s3cret%2F%C3%BC", "s3cret%2f%c3%bc", "s3cret/%C3%BC", "s3cret/%c3%bc", '"s3cret/\\u00fc"', "czNjcmV0L8O8")).encode()),
    "denied": (403, {"Content-Type": "text/plain"}, "no entry for s3cret/ü".encode()),
    "wrong": (200, JSON, b'{"id":"seven"}'),
}  # fmt: skip
ENDING = b"\r\n\r\n"
RAW: dict[str, list[bytes]] = {
    "raw-chunks": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\nA;x=1\r\n[1,2,3,4,5\r\n", b"1\r\n]\r", b"\n0\r\nX: y",
                   ENDING],
    "raw-interim": [b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n", b"\r\nHTTP/1.1 200 OK\r\n",
                    b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"],
    "raw-lines": [b"HTTP/1.0 200\nContent-Type: text/plain;\n charset=latin1\nno field\nLink: <a>\n\nt\xe4", b"t\xe4"],
    "raw-lengths": [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"],
    "raw-coding": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0", ENDING],
    "raw-other": [b"SSH-2.0-x", ENDING],
    "raw-size": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}"],
    "raw-cut": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}"],
    "raw-trailers": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"X: y\r\n" * 100],
    "raw-100": [b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 99, b"Content-Length: 2\r\n\r\n{}"],
    "raw-101": [b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 100, b"Content-Length: 2\r\n\r\n{}"],
    "raw-endless": [b"HTTP/1.1 200 OK\r\nX: ", b"y" * ((1 << 18) + 9)],
}  # fmt: skip
"""Answers as they are sent, in parts, by a server that closes the connection after each."""
BLOCK = 1 << 16


class Api(ThreadingHTTPServer):
    """`requests`: what came; `tokens`: how many were fetched; `asked`, `gone`: of the client that gets no answer."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ApiHandler)
        self.requests: list[dict[str, Any]] = []
        self.seen: dict[str, int] = {}
        self.connections = self.tokens = 0
        self.lock = threading.Lock()
        self.asked, self.gone = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def count(self, target: str) -> int:
        """Return how often this target was asked for, with this time."""
        with self.lock:
            self.seen[target] = self.seen.get(target, 0) + 1
            return self.seen[target]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some tests are about."""


class ApiHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Api

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.server.requests.append(
            {"method": self.command, "target": self.path, "headers": dict(self.headers.items()), "body": body}
        )
        parts = urlsplit(self.path)
        name = parts.path.rpartition("/do/")[2]
        misbehave = getattr(self, f"do_{name}".replace("-", "_"), None)
        if misbehave is not None:
            misbehave()
        elif name in RAW:
            for part in RAW[name]:
                self.wfile.write(part)
            self.close_connection = True
        elif name == "page":
            self._page(int(parse_qs(parts.query).get("page", ["1"])[0]))
        else:
            self.reply(*ANSWERS.get(name, (200, JSON, b'{"ok":true}')))

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def _page(self, number: int) -> None:
        link = {"Link": f'<{self.server.url}/v1/do/page?page={number + 1}>; rel="next"'} if number < 3 else {}
        self.reply(200, {**JSON, **link}, json.dumps([{"id": number}]).encode())

    def do_cursor(self) -> None:
        is_last = "after=c%262" in self.path
        cursor = b'null,"x":1' if is_last else b'"c&2"'
        self.reply(200, JSON, b'{"meta":{"next":%b},"data":[%d]}' % (cursor, 1 + is_last))

    def do_token(self) -> None:
        with self.server.lock:
            self.server.tokens += 1
        self.reply(200, JSON, b'{"access_token":"token-%d","expires_in":3600}' % self.server.tokens)

    def do_guarded(self) -> None:
        """Refuse the first token that was fetched."""
        is_old = self.headers.get("Authorization") in (None, "Bearer token-1")
        self.reply(401 if is_old else 200, JSON, b'{"old":true}' if is_old else b'{"ok":true}')

    def do_flaky(self) -> None:
        """Fail twice, then succeed."""
        is_well = self.server.count(f"{self.command} {self.path}") > 2
        self.reply(200 if is_well else 503, {**JSON, "Retry-After": "0"}, b'{"ok":true}')

    def do_half(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[1,")
        self.close_connection = True

    def do_reset(self) -> None:
        self.close_connection = True

    def do_silent(self) -> None:
        """Answer nothing until the client goes away."""
        self.server.asked.set()
        self.rfile.read(1)
        self.server.gone.set()
        self.close_connection = True

    def do_huge(self) -> None:
        """Send up to 1 GiB, in chunks."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range((1 << 30) // BLOCK):
            self.wfile.write(b"%x\r\n%b\r\n" % (BLOCK, b"7" * BLOCK))

    def do_bomb(self) -> None:
        """Send 256 MiB of the same letter, compressed."""
        press = zlib.compressobj(1, wbits=31)
        parts = [press.compress(b"a" * (1 << 20)) for _ in range(256)]
        self.reply(200, {**JSON, "Content-Encoding": "gzip"}, b"".join([*parts, press.flush()]))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def http_api(context: ssl.SSLContext | None = None) -> Iterator[Api]:
    """Serve the API in threads of this process."""
    api = Api()
    if context is not None:
        api.socket = context.wrap_socket(api.socket, server_side=True)
    thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        api.shutdown()
        thread.join()
        api.server_close()
