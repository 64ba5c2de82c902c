"""A server over HTTP: requests of the stateless era over connections that stay open, and the floor for them.

The floor sends as many bytes to a port that returns them as a request and its response have together.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections import deque
from contextlib import contextmanager
from subprocess import STDOUT
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpc.sandbox import programs
from mcpc.sandbox.platforms.program_groups import GROUP_OPTIONS
from mcpc.workbench.bench.model import BenchError
from mcpc.workbench.bench.pipes import ANSWER_SECONDS, CLIENT, checked_result, result_of, started

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.workbench.bench.model import Call
    from mcpc.workbench.bench.pipes import Lines

    Object = dict[str, Any]
    Request = tuple[bytes, dict[str, str]]
    """The body and the headers of a request."""

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META = {f"{PREFIX}protocolVersion": VERSION, f"{PREFIX}clientInfo": CLIENT, f"{PREFIX}clientCapabilities": {}}
LISTENS = re.compile(rb"serving (http://\S+)")
NAMED = {"tools/call": "name"}
"""Methods whose requests name what they are for in a header, and the parameter with that name."""
KEPT_LINES = 5
HEAD_BYTES = 300
"""About what the head of a request and that of a response have together."""


class ServerConnection:
    """A connection to a server, which stays open."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._path = parts.path
        self._http = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=ANSWER_SECONDS)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def exchange(self, body: bytes, headers: dict[str, str]) -> bytes:
        """Send a request; return the body of its response, of an event stream the data."""
        try:
            self._http.request("POST", self._path, body, headers)
            response = self._http.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as problem:
            raise BenchError(f"it did not answer: {problem}") from None
        if response.getheader("content-type", "").startswith("text/event-stream"):
            return b"".join(line[5:].strip() for line in data.splitlines() if line.startswith(b"data:"))
        return data

    def seconds(self, prepared: Request) -> float:
        """Return how long an exchange took."""
        began = perf_counter()
        self.exchange(*prepared)
        return perf_counter() - began


class FloorConnection:
    """A connection to the floor."""

    def __init__(self, port: int, size: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._data = b"x" * size

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def seconds(self) -> float:
        """Return how long the bytes took to come back."""
        began = perf_counter()
        self._socket.sendall(self._data)
        left = len(self._data)
        while left > 0:
            left -= len(self._socket.recv(65536)) or left
        return perf_counter() - began


@contextmanager
def serving(command: Sequence[str], folder: str | None = None) -> Iterator[tuple[str, Lines]]:
    """Yield the address of a server that was started, and its process; raise BenchError if it does not serve."""
    words = [*command, "serve", "--http", "127.0.0.1:0"]
    try:
        process = programs.start_program("server", words, cwd=folder, stderr=STDOUT, **GROUP_OPTIONS)
    except OSError as problem:
        raise BenchError(f"it cannot be started: {problem.strerror or problem}") from None
    with started(process) as lines:
        try:
            yield _address(lines), lines
        finally:
            process.terminate()


def _address(lines: Lines) -> str:
    """Return the address that a server says it serves at."""
    said: deque[str] = deque(maxlen=KEPT_LINES)
    with lines.within(ANSWER_SECONDS):
        while True:
            try:
                line = lines.receive()
            except BenchError as problem:
                raise BenchError(f"it does not serve: {problem}: {' '.join(said)}".rstrip(": ")) from None
            if found := LISTENS.search(line):
                return found[1].decode()
            said.append(line.decode(errors="replace").strip())


def request(method: str, params: Object) -> Request:
    """Return the body and the headers of a request."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }
    if method in NAMED:
        headers["Mcp-Name"] = str(params[NAMED[method]])
    return json.dumps(body).encode(), headers


def call_request(call: Call) -> Request:
    """Return the body and the headers of a call."""
    return request("tools/call", {"name": call.tool, "arguments": dict(call.arguments)})


def call_size(connection: ServerConnection, call: Call, prepared: Request) -> int:
    """Make a call that has to succeed; return how many bytes it and its response have, with their heads."""
    answer = connection.exchange(*prepared)
    checked_result(call, answer)
    return len(prepared[0]) + len(answer) + HEAD_BYTES


def checked_size(connection: ServerConnection, prepared: Request) -> int:
    """Send a request that has to succeed; return how many bytes it and its response have, with their heads."""
    answer = connection.exchange(*prepared)
    result_of(answer)
    return len(prepared[0]) + len(answer) + HEAD_BYTES
