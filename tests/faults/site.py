"""A server over HTTP, as one more way to talk to a server: each message is a POST of its own, on its own connection.

What it is asked may run beside other requests, so each POST has a thread; its answer is sorted in like any line.
"""

import contextlib
import json
import signal
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults import forms
from faults.client import HANDSHAKE, Message, Server, require, until
from support.knocks import LEGACY, mirrors, stateless
from support.machines import Machine
from support.serving import LISTENS, PATIENCE
from support.talking import connect, everything, said

WITH_US = "import ctypes\nctypes.CDLL(None).prctl(1, 15)\n"
"""What a server is told before it starts: to end if whoever started it is killed."""
USUAL = {
    "host": "127.0.0.1",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "connection": "close",
}
END = b"\r\n\r\n"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def lines(self) -> list[bytes]:
        if self.headers.get("content-type") == "text/event-stream":
            return [line[6:] for line in self.body.split(b"\n") if line.startswith(b"data: ") and len(line) > 6]
        return [self.body] if self.headers.get("content-type") == "application/json" else []

    @property
    def message(self) -> Message:
        require(self.lines, "no message:", self.status, self.body)
        found: Message = json.loads(self.lines[-1])
        return found

    @property
    def code(self) -> int:
        number: int = self.message.get("error", {}).get("code", 0)
        return number


def parsed(data: bytes) -> Answer:
    top, _, body = data.partition(END)
    require(top.startswith(b"HTTP/1.1 "), "no answer:", data)
    first, *lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = joined(body)
    elif "content-length" in headers:
        require(int(headers["content-length"]) == len(body), "it is not as long as it says:", data)
    return Answer(int(first.split()[1]), headers, body)


def joined(body: bytes) -> bytes:
    """Return a body without its chunks."""
    found = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        found += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return found


def bytes_of(message: Any, *headers: tuple[str, str], method: str = "POST", path: str = "/mcp") -> bytes:
    """Return a request with the usual headers and these."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    given = {**USUAL, **{name.lower(): value for name, value in headers}}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value != "-")]
    return "\r\n".join([*lines, f"content-length: {len(body)}"]).encode("latin-1") + END + body


class Site(Server):
    """A built server that serves over HTTP; `words`: its options; `prefix`: a command that starts it elsewhere.

    It is asked to end by a signal, as an operator does it.
    """

    def __init__(
        self,
        artifact: Path,
        era: str,
        *words: str,
        address: str = "127.0.0.1:0",
        prefix: Sequence[str] = (),
        before: str = "",
        machine: Machine | None = None,
        **options: Any,
    ) -> None:
        self.session = ""
        self.processes = 0
        self._open: dict[Any, socket.socket] = {}
        argv = [*prefix, *forms.command(artifact, machine), "serve", "--http", address, *words]
        super().__init__(argv, era, before=WITH_US + before, **options)
        try:
            found = until(lambda: LISTENS.search(self.errors) or self.process.poll() is not None, PATIENCE)
            require(found and found is not True, "it does not listen", self.state())
            self.url = found[1].decode()
            require(until(self.is_ready, PATIENCE), "it does not become ready", self.state())
        except BaseException:
            self.discard()
            raise

    def _read(self) -> None:
        """Nothing is to be said on standard output."""
        while data := self._some(self.process.stdout.fileno()):
            self.replies.dirt.append(data[:200])
        with self.replies.changed:
            self.replies.ended = True
            self.replies.changed.notify_all()

    @property
    def root(self) -> str:
        """The address without the endpoint's path."""
        return self.url.rpartition("/")[0]

    def is_ready(self) -> bool:
        with contextlib.suppress(OSError):
            return self.knock(b"", method="GET", path="/readyz").status == 200
        return False

    def knock(self, message: Any, *headers: tuple[str, str], **where: str) -> Answer:
        return parsed(said(self, bytes_of(message, *headers, **where)))

    def ordinary(self, *headers: tuple[str, str], **where: str) -> Answer:
        """Ask for the tools as a good client of the stateless era does, but for these headers."""
        return self.knock(stateless("tools/list"), *mirrors("tools/list"), *headers, **where)

    @property
    def names(self) -> list[tuple[str, str]]:
        return [("mcp-session-id", self.session), ("mcp-protocol-version", LEGACY)] if self.session else []

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            threading.Thread(target=self._post, args=(json.loads(line),), daemon=True).start()

    def _post(self, message: Message) -> None:
        """Post a message, and sort in what comes; a connection that ends without an answer brings none."""
        names = self.names if self.era == HANDSHAKE else mirrors(message["method"], message.get("params"))
        with contextlib.suppress(OSError), connect(self, 120) as connection:
            self._open[message.get("id")] = connection
            connection.sendall(bytes_of(message, *names))
            found = everything(connection)
            if not found:
                return
            answer = parsed(found)
            self.session = answer.headers.get("mcp-session-id", self.session)
            for line in answer.lines:
                self.replies.take(line)

    def leave(self, identifier: Any) -> None:
        """Be a client that goes away in the middle of a request."""
        until(lambda: identifier in self._open, 10)
        self._open[identifier].shutdown(socket.SHUT_RDWR)

    def rest(self) -> None:
        """Raise Fault unless it is, between two cases, what it was before the first."""
        require(self.process.poll() is None, "it has ended", self.state())
        require(until(lambda: not self.connections(), 3), "connections stay open:", self.connections())
        require(until(lambda: len(self.running()) <= self.processes, 3), "processes stay:", *map(str, self.running()))
        require(b"Traceback" not in self.errors, self.state())
        require(not list(self.temporary.iterdir()), "files stay:", *map(str, self.temporary.iterdir()))

    def close_input(self) -> None:
        super().close_input()
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)

    def connections(self) -> int:
        port = f":{int(self.root.rpartition(':')[2]):04X}"
        with open(f"/proc/{self.pid}/net/tcp") as file:
            rows = [row.split() for row in file.read().splitlines()[1:]]
        inodes = {f"socket:[{row[9]}]" for row in rows if port in row[1] and row[3] in ("01", "08")}
        return sum(target in inodes for target in self.targets())

    def targets(self) -> list[str]:
        found = []
        for path in Path(f"/proc/{self.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(str(path.readlink()))
        return found
