"""Measure the memory that clients can make a server use: `bench/memory_limit.py [--limit SIZE] [--quick] [CASE ...]`.

Each case is one way to use much memory, by one principal with a token, on a new server. Printed are the peak of the
server's memory (VmHWM) against the limit plus 64 MB, refused requests, the latency of `echo` and `ping` for another
principal, and the charge of the budget after all clients have disconnected.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.artifact import build
from support.serving import Served, served
from support.talking import connect

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1 << 20
MARGIN = 64 * MIB
SETTLE_SECONDS = 15.0
MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
TOKENS = {"attacker": "a" * 40, "polite": "b" * 40}
UNITS = {"K": 10, "M": 20, "G": 30}
PROJECT = {
    "tools.py": '''
import time

from mcpc import resource, tool


@tool
def echo(text: str) -> str:
    """Give the text back."""
    return text


@tool
def big(size: int) -> str:
    """Return so many characters."""
    return "x" * size


@tool
def slow(seconds: float, text: str = "") -> str:
    """Wait."""
    time.sleep(seconds)
    return "waited"


@tool(task=True)
def work(number: int) -> str:
    """Work."""
    return "done"


@resource("note:///{name}")
def note(name: str) -> str:
    """Return a note."""
    return name
''',
}
PROJECT["tools.json"] = json.dumps(
    {
        "tools": [
            {
                "name": "write",
                "description": "Write so many bytes, and wait.",
                "inputSchema": {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
            }
        ]
    }
)
PROJECT["tools.bash"] = """
tool_write() {
  local size=${1##*: }
  head -c "${size%%[!0-9]*}" /dev/zero | tr '\\0' x
  sleep 4
}
"""
PROJECT["server.json"] = json.dumps(
    {"serverInfo": {"name": "memory", "version": "1.0.0"}, "capabilities": {"resources": {"subscribe": True}}}
)


@dataclass(slots=True)
class Attack:
    """A running case: its open connections, and counts of answers."""

    server: Served
    scale: float
    open: ExitStack
    answered: dict[str, int] = field(default_factory=dict)
    connections: list[socket.socket] = field(default_factory=list)

    def times(self, number: int) -> int:
        """Return a number of repetitions, adapted to the scale."""
        return max(2, int(number * self.scale))

    def connect(self) -> socket.socket:
        """Return a new connection, which stays open."""
        found: socket.socket = self.open.enter_context(connect(self.server, 60))
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        self.connections.append(found)
        return found

    def send(self, *parts: bytes) -> None:
        """Send bytes on a new connection; nothing is read."""
        with suppress(OSError):
            connection = self.connect()
            for part in parts:
                connection.sendall(part)

    def count(self, status: str) -> None:
        """Count an answer."""
        self.answered[status] = self.answered.get(status, 0) + 1

    def look(self) -> None:
        """Count the answers received so far."""
        for connection in self.connections:
            connection.settimeout(0.05)
            with suppress(OSError):
                start = connection.recv(12, socket.MSG_PEEK)
                self.count(start[9:].decode() if start else "closed")


def stateless(method: str, params: dict[str, Any] | None = None) -> bytes:
    """Return the body of a request of the stateless era."""
    capabilities = {"extensions": {META + "tasks": {}}}
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": capabilities}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": meta}}
    ).encode()


def head(length: int, who: str, *more: str) -> bytes:
    """Return the head of a POST."""
    lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", f"Content-Length: {length}"]
    lines += [f"Authorization: Bearer {TOKENS[who]}", "Accept: application/json, text/event-stream", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def posted(who: str, method: str, params: dict[str, Any] | None = None, *more: str) -> bytes:
    """Return a complete request of the stateless era."""
    body = stateless(method, params)
    name = (params or {}).get("name")
    lines = [f"MCP-Protocol-Version: {MODERN}", f"Mcp-Method: {method}", *([f"Mcp-Name: {name}"] if name else [])]
    return head(len(body), who, *lines, *more) + body


def called(who: str, tool: str, **arguments: Any) -> bytes:
    """Return a complete request that calls a tool."""
    return posted(who, "tools/call", {"name": tool, "arguments": arguments})


def answer(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Return one answer, with a length or without a body."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionError("closed")
        data += part
    top, _, body = data.partition(b"\r\n\r\n")
    first, *lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(1 << 16)
    return int(first.split()[1]), headers, body


def unfinished_bodies(attack: Attack) -> None:
    """30 bodies of 17 MB without their last byte."""
    body = b" " * (17 * 1000 * 1000 - 1)
    for _ in range(attack.times(30)):
        attack.send(head(len(body) + 1, "attacker"), body)


def long_task_ids(attack: Attack) -> None:
    """15 streams with a task id of 16 MB."""
    wanted = {"notifications": {"taskIds": ["x" * (16 * MIB)]}}
    request = posted("attacker", "subscriptions/listen", wanted)
    for _ in range(attack.times(15)):
        attack.send(request)


def waiting_calls(attack: Attack) -> None:
    """60 calls that wait, each with 8 MB of arguments."""
    request = called("attacker", "slow", seconds=8, text="x" * (8 * MIB))
    for _ in range(attack.times(60)):
        attack.send(request)


def streams_not_read(attack: Attack) -> None:
    """40 answers of 8 MB that no client reads."""
    request = called("attacker", "big", size=8 * MIB)
    for _ in range(attack.times(40)):
        attack.send(request)


def written_output(attack: Attack) -> None:
    """150 calls of a Bash function that writes 8 MB and continues."""
    request = called("attacker", "write", size=8 * MIB)
    for _ in range(attack.times(150)):
        attack.send(request)


def many_values(attack: Attack) -> None:
    """Bodies of 17.8 MB: empty objects, objects of one member, distinct keys, a matrix."""
    size = int(17.8e6)
    for value in (b"{},", b'{"":0},', b"[[]],", b'"ab",', b"1.5,"):
        body = b"[" + value * (size // len(value)) + b"0]"
        attack.send(head(len(body), "attacker"), body)
    keys = b"{" + b",".join(b'"%x":0' % number for number in range(size // 10)) + b"}"
    attack.send(head(len(keys), "attacker"), keys)


def values_within_bounds(attack: Attack) -> None:
    """20 bodies with the maximum number of values, in sequence and in parallel."""
    body = b"[" + b'{"":0},' * 174_000 + b"0]"
    for _ in range(attack.times(20)):
        attack.send(head(len(body), "attacker"), body)


def watched_uris(attack: Attack) -> None:
    """400 sessions that subscribe to 1,000 URIs of 4 KB each; they are ended at the end."""
    for number in range(attack.times(400)):
        session, is_full = watch(attack, number)
        attack.open.callback(end_session, attack.server, session)
        if is_full:
            return


def end_session(server: Served, session: str) -> None:
    """End a session."""
    with connect(server, 60) as connection:
        lines = ["DELETE /mcp HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {TOKENS['attacker']}", session]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        connection.recv(1 << 16)


def watch(attack: Attack, number: int) -> tuple[str, bool]:
    """Start a session with the maximum of subscriptions; return its header, and whether more were refused."""
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    begin = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    connection = connect(attack.server, 60)
    with connection:
        connection.sendall(head(len(begin), "attacker") + begin)
        _, headers, _ = answer(connection)
        session = f"Mcp-Session-Id: {headers['mcp-session-id']}"
        for place in range(1000):
            params = {"uri": f"note:///{number}-{place}-" + "x" * 4000}
            body = json.dumps(
                {"jsonrpc": "2.0", "id": place, "method": "resources/subscribe", "params": params}
            ).encode()
            connection.sendall(head(len(body), "attacker", session, f"MCP-Protocol-Version: {LEGACY}") + body)
            status, _, said = answer(connection)
            refused = b'"error"' in said
            attack.count(f"{status} {'refused' if refused else 'watched'}")
            if refused:
                return session, True
    return session, False


def many_connections(attack: Attack) -> None:
    """300 connections that send half a megabyte before their answer."""
    request = called("attacker", "slow", seconds=8)
    ahead = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 400000\r\n\r\n" + b" " * 300_000
    for _ in range(attack.times(300)):
        attack.send(request + ahead[:300_000])


CASES: dict[str, Callable[[Attack], None]] = {
    "unfinished bodies": unfinished_bodies,
    "long task ids": long_task_ids,
    "waiting calls": waiting_calls,
    "streams not read": streams_not_read,
    "written output": written_output,
    "many values": many_values,
    "values within bounds": values_within_bounds,
    "watched uris": watched_uris,
    "sent ahead": many_connections,
}


class Polite(threading.Thread):
    """Another principal, which calls `echo` and pings continuously."""

    def __init__(self, server: Served) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._ends = threading.Event()
        self.times: list[float] = []
        self.failed: list[str] = []

    def run(self) -> None:
        """Call until stopped."""
        while not self._ends.is_set():
            for request in (called("polite", "echo", text="hello"), posted("polite", "tools/list")):
                self._ask(request)
            time.sleep(0.05)

    def _ask(self, request: bytes) -> None:
        began = time.perf_counter()
        try:
            with connect(self._server, 30) as connection:
                connection.sendall(request)
                status, _, body = answer(connection)
            if status != 200:
                self.failed.append(f"{status} {body[:100]!r}")
        except (OSError, ValueError) as problem:
            self.failed.append(repr(problem))
        self.times.append(time.perf_counter() - began)

    def end(self) -> None:
        """Stop."""
        self._ends.set()
        self.join()


def memory(server: Served, name: str) -> int:
    """Return a byte count from the server's status: VmHWM is the peak, VmRSS the current value."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) << 10


def charged(server: Served) -> int:
    """Return the charge of the budget; a full budget refuses this request, which is then repeated."""
    request = urllib.request.Request(f"{server.root}/metrics", headers={"Authorization": f"Bearer {TOKENS['polite']}"})
    until = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as found:
                said = re.search(r"^mcpc_memory_charged_bytes (\d+)$", found.read().decode(), re.MULTILINE)
            assert said is not None
            return int(said[1])
        except urllib.error.HTTPError as refused:
            if refused.code != 503 or time.monotonic() > until:
                raise
            time.sleep(0.05)


def watched_charge(server: Served) -> int:
    """Return the maximum charge of the budget during some seconds, because handlers take time."""
    most, until = 0, time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < until:
        most = max(most, charged(server))
        time.sleep(0.2)
    return most


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one case, in bytes and seconds."""

    base: int
    peak: int
    most_charged: int
    left: int
    quiet: int
    answered: dict[str, int]
    polite: Polite


def run(artifact: Path, tokens: Path, limit: int, case: Callable[[Attack], None], scale: float) -> Result:
    """Run one case against a new server."""
    options = ("--token-file", str(tokens), "--memory-limit", str(limit), "--metrics")
    with served(artifact, *options) as server:
        quiet = charged(server)
        base = memory(server, "VmRSS")
        polite = Polite(server)
        polite.start()
        with ExitStack() as stack:
            attack = Attack(server, scale, stack)
            case(attack)
            most = watched_charge(server)
            attack.look()
        until = time.monotonic() + 20
        polite.end()
        while (left := charged(server)) > quiet and time.monotonic() < until:
            time.sleep(0.2)
        return Result(base, memory(server, "VmHWM"), most, left, quiet, attack.answered, polite)


def prepare(folder: Path) -> tuple[Path, Path]:
    """Build the server, and write its tokens."""
    project = folder / "project"
    project.mkdir()
    for name, text in PROJECT.items():
        (project / name).write_text(text)
    tokens = folder / "tokens"
    tokens.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()))
    tokens.chmod(0o600)
    return build(project, folder / "server.pyz", "--http"), tokens


def size(text: str) -> int:
    """Return a size, written as a number with an optional K, M or G."""
    return int(text[:-1]) << UNITS[text[-1]] if text[-1] in UNITS else int(text)


def main() -> int:
    """Measure and print; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=size, default=512 * MIB)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("cases", nargs="*", default=list(CASES))
    chosen = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory(prefix="mcpc-bench-") as name:
        artifact, tokens = prepare(Path(name))
        print(f"limit {chosen.limit >> 20} MB and 64 MB; sizes in MB, times in ms")
        print(f"{'case':<22}{'base':>6}{'peak':>6}{'charged':>8}{'left':>6}  others: p50, max, failed; answered")
        for case in chosen.cases:
            found = run(artifact, tokens, chosen.limit, CASES[case], 0.3 if chosen.quick else 1.0)
            times = sorted(found.polite.times)
            is_kept = found.peak <= chosen.limit + MARGIN and found.left <= found.quiet and not found.polite.failed
            missed = missed or not is_kept
            figures = "".join(f"{number / MIB:>{width}.0f}" for number, width in (
                (found.base, 6), (found.peak, 6), (found.most_charged, 8), (found.left - found.quiet, 6)))  # fmt: skip
            waits = f"{times[len(times) // 2] * 1000:.0f}, {times[-1] * 1000:.0f}, {len(found.polite.failed)}"
            print(f"{case:<22}{figures}  {waits}; {found.answered}{'' if is_kept else '  MISSED'}", flush=True)
            for words in found.polite.failed[:3]:
                print(f"    {words}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
