"""A client with minimal cost: JSON lines over two pipes, with replies matched by id.

All times are taken from the outside, with one clock, around `posix_spawn` and plain reads and writes. Linux.
"""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHUNK = 1 << 20
FIRST_ID = 10_000_000
"""All ids have the same length, so that none is a prefix of another."""
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
FIVE_SECONDS = 5.0


def request(identifier: int, method: str, params: Mapping[str, Any]) -> bytes:
    """Return a request as a line."""
    message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


@dataclass(slots=True)
class Server:
    """A server that was just spawned.  `began`: the clock before the spawn."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    began: float = 0.0
    pid: int = 0
    to: int = -1
    of: int = -1
    pending: bytes = b""
    number: int = field(default=FIRST_ID)

    def __post_init__(self) -> None:
        """Spawn it, with its standard error discarded."""
        theirs_in, self.to = os.pipe()
        self.of, theirs_out = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, theirs_in, 0),
            (os.POSIX_SPAWN_DUP2, theirs_out, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0o600),
        ]
        self.began = time.perf_counter()
        self.pid = os.posix_spawnp(self.argv[0], list(self.argv), self.environment, file_actions=actions, setpgroup=0)
        os.close(theirs_in)
        os.close(theirs_out)

    def write(self, data: bytes) -> None:
        """Write all bytes."""
        while data:
            data = data[os.write(self.to, data) :]

    def line(self) -> bytes:
        """Read a line."""
        while b"\n" not in self.pending:
            data = os.read(self.of, CHUNK)
            if not data:
                raise EOFError(f"{' '.join(self.argv)} ended")
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def reply_to(self, identifier: int) -> bytes:
        """Read lines up to the reply to a request; raise ValueError if it is an error."""
        mark = str(identifier).encode()
        while mark not in (line := self.line()):
            pass
        if b'"result"' not in line:
            raise ValueError(f"{' '.join(self.argv)} answered {line[:300]!r}")
        return line

    def ask(self, method: str, params: Mapping[str, Any]) -> bytes:
        """Send a request and return the reply."""
        self.number += 1
        self.write(request(self.number, method, params))
        return self.reply_to(self.number)

    def start(self) -> float:
        """Do the handshake; return the seconds from the spawn to the reply to `initialize`."""
        self.ask("initialize", CLIENT)
        took = time.perf_counter() - self.began
        self.write(INITIALIZED)
        return took

    def call(self, tool: str) -> float:
        """Call an echoing tool; return the seconds."""
        self.number += 1
        line = request(self.number, "tools/call", {"name": tool, "arguments": {"text": "hi"}})
        began = time.perf_counter()
        self.write(line)
        reply = self.reply_to(self.number)
        took = time.perf_counter() - began
        if b'"hi"' not in reply or b'"isError":true' in reply:
            raise ValueError(f"{' '.join(self.argv)} answered {reply[:300]!r}")
        return took

    def flood(self, tool: str, count: int, window: int) -> float:
        """Call a tool `count` times, `window` calls in progress at once; return the seconds per call."""
        params = {"name": tool, "arguments": {"text": "hi"}}
        lines = [request(self.number + 1 + index, "tools/call", params) for index in range(count)]
        self.number += count
        sent = answered = 0
        began = time.perf_counter()
        while answered < count:
            batch = lines[sent : answered + window]
            if batch:
                self.write(b"".join(batch))
                sent += len(batch)
            replies = [self.line()]
            while b"\n" in self.pending:
                replies.append(self.line())
            answered += sum(b'"id"' in reply for reply in replies)
        return (time.perf_counter() - began) / count

    def memory(self) -> float:
        """Return the resident memory of the server and all its children, in MB."""
        return sum(map(resident, family(self.pid))) / 1e6

    def close(self) -> None:
        """End it by the end of its input; kill it if that does not suffice."""
        os.close(self.to)
        deadline = time.perf_counter() + FIVE_SECONDS
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.perf_counter() > deadline:
                os.killpg(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
            time.sleep(0.002)
        os.close(self.of)


def family(pid: int) -> list[int]:
    """Return a process and all of its descendants."""
    tasks = Path(f"/proc/{pid}/task")
    children = [child for task in tasks.glob("*/children") for child in task.read_text().split()]
    return [pid, *(member for child in children for member in family(int(child)))]


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    return 0


def lifetime(argv: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the seconds from the spawn of a silent command to its end."""
    streams = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0o600) for stream in range(3)]
    began = time.perf_counter()
    pid = os.posix_spawnp(argv[0], list(argv), environment, file_actions=streams)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter() - began
    if status:
        raise RuntimeError(f"{' '.join(argv)} failed")
    return took
