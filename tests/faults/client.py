"""A client that trusts nothing: raw pipes, every line judged, every process that a server made is found.

The servers' own modules are never imported here.  Processes are found in three ways: by the tree below the server, by
the name of the server's temporary folder in their environment (which handlers inherit as TMPDIR), and by adoption: while
a server runs, this process adopts whatever becomes an orphan below it.  What other tests start below this process is no
server's: all that was there before it, and all that comes while a server that several cases share rests between two.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.processes import of_process
from support.slack import slack

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HANDSHAKE, STATELESS = "handshake", "stateless"
SUBREAPER = 36
STDERR_KEPT = 1 << 16
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.01, 0.05
LAUNCH = "import os, sys\nos.execvp(sys.argv[1], sys.argv[1:])"
"""What a process that was prepared does at last: become the server."""
COMMAND_SERVER = "support/command_server.py"
"""The process that runs compiler commands for all tests: no server started it."""
WINE_SERVICES = ("/usr/lib/wine/wineserver", "C:\\windows\\system32\\", "start.exe ")
"""How the commands of Wine's services begin: any process of a prefix may start them, and they outlive it for all others."""
ORPHAN_SECONDS = 3.0
"""How long after its server's end a process may still be there."""

Message = dict[str, Any]


class Fault(AssertionError):  # noqa: N818 - an event, not an error
    """What was required did not happen."""


def require(condition: object, *what: object) -> None:
    """Raise Fault unless something holds, with what is known about it."""
    if not condition:
        said = " ".join(item if isinstance(item, str) else short(item) for item in what)
        raise Fault(said.encode("utf-8", "backslashreplace").decode())


def short(value: object, limit: int = 300) -> str:
    """Return a value as a text that fits a report."""
    shown = repr(value)
    return shown if len(shown) <= limit else f"{shown[: limit // 2]} … {shown[-limit // 2 :]}"


def until(condition: Callable[[], Any], seconds: float) -> Any:
    """Poll for something; return it, or the last false answer when the time, which slack multiplies, is over.

    What has not happened soon is asked for less often, because looking through all processes is work.
    """
    deadline = time.monotonic() + seconds * slack()
    pause = POLL_SECONDS
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.25, LONGEST_POLL_SECONDS)
    return found


@dataclass(frozen=True)
class Process:
    """One row of the process table."""

    pid: int
    parent: int
    state: str
    born: int

    def words(self) -> str:
        """Return its command line, for people."""
        return of_process(self.pid, "cmdline").replace(b"\0", b" ").decode("utf-8", "replace")[:200]

    def __str__(self) -> str:
        return f"{self.pid} [{self.state}] {self.words()}"


def processes() -> dict[int, Process]:
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = of_process(name, "stat").rpartition(b")")[2].split()
            if fields:
                found[int(name)] = Process(int(name), int(fields[1]), fields[0].decode(), int(fields[19]))
    return found


def below(roots: Iterable[int], table: dict[int, Process]) -> list[Process]:
    """Return everything that descends from `roots`, without them."""
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    found, queue = [], list(roots)
    while queue:
        for child in children.get(queue.pop(), ()):
            found.append(child)
            queue.append(child.pid)
    return found


def carrying(mark: bytes, table: dict[int, Process]) -> list[Process]:
    """Return the processes in whose environment `mark` occurs."""
    return [process for process in table.values() if mark in of_process(process.pid, "environ")]


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 if it has gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def adopt(wanted: bool) -> None:
    """Become, or stop being, the one to whom orphans below this process fall."""
    ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, int(wanted), 0, 0, 0)


class Peak:
    """Samples the most memory that a server has had, until it is asked; a thread of its own."""

    def __init__(self, pid: int) -> None:
        self.base = self.most = resident(pid)
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._over.wait(0.005):
            self.most = max(self.most, resident(self._pid))

    def growth(self) -> float:
        """Return by how many MiB memory was ever above the beginning."""
        self._over.set()
        self._thread.join()
        return (self.most - self.base) / (1 << 20)


@dataclass
class Replies:
    """What came from the server, in order; filled by a thread."""

    lines: int = 0
    messages: dict[str, list[Message]] = field(default_factory=dict)
    notices: list[Message] = field(default_factory=list)
    dirt: list[bytes] = field(default_factory=list)
    ended: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, line: bytes) -> None:
        """Judge one line and sort it in; what is no JSON-RPC message is dirt."""
        try:
            value = json.loads(line.decode("utf-8"), parse_constant=refuse)
        except ValueError:
            value = None
        with self.changed:
            self.lines += 1
            for message in value if isinstance(value, list) and value else [value]:
                if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                    self.dirt.append(line[:200])
                elif "method" in message:
                    self.notices.append(message)
                elif "id" in message and ("result" in message) != ("error" in message):
                    self.messages.setdefault(key(message["id"]), []).append(message)
                else:
                    self.dirt.append(line[:200])
            self.changed.notify_all()


def refuse(text: str) -> Any:
    """Refuse NaN and infinities in a reply."""
    raise ValueError(text)


def key(identifier: object) -> str:
    """Return an id as something that keeps 7 and "7" apart."""
    return json.dumps(identifier)


class Server:
    """A server that was started.  `argv` is the whole command; the environment is nearly empty unless given.

    `before`: Python statements that its process runs before it becomes the server.
    """

    may_print = False
    """Whether its standard output may have what is no message."""

    def __init__(
        self,
        argv: Sequence[str],
        era: str = HANDSHAKE,
        *,
        environment: Mapping[str, str | None] | None = None,
        before: str = "",
        **options: Any,
    ) -> None:
        self.era = era
        self.folder = Path(tempfile.mkdtemp(prefix="fault-"))
        self.mark = self.folder.name.encode()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.home = self.folder / "home"
        self.home.mkdir()
        given: dict[str, str | None] = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.temporary), "LANG": "C.UTF-8",
            "MCPC_FAULT": self.folder.name, **(environment or {}),
        }  # fmt: skip
        self.environment = {name: value for name, value in given.items() if value is not None}
        self.base = 0
        self._next = 0
        self._seen: dict[int, int] = {}
        self.starts_services = False
        self.replies = Replies()
        self.errors = b""
        self.status: int | None = None
        self.discarded = False
        self._others = {process.pid: process.born for process in below([os.getpid()], processes())}
        adopt(True)
        words = [sys.executable, "-I", "-S", "-c", f"{before}\n{LAUNCH}", *argv] if before else list(argv)
        self.process = subprocess.Popen(
            words, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            bufsize=0, **{"cwd": self.folder, **options},
        )  # fmt: skip
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    # What is said

    def _read(self) -> None:
        pieces: list[bytes] = []
        stream = self.process.stdout
        descriptor = stream.fileno()
        while data := self._some(descriptor):
            *complete, rest = data.split(b"\n")
            for piece in complete:
                self.replies.take(b"".join([*pieces, piece]))
                pieces.clear()
            if rest:
                pieces.append(rest)
        with self.replies.changed:
            if pieces:
                self.replies.dirt.append(b"".join(pieces)[:200])
            self.replies.ended = True
            self.replies.changed.notify_all()

    def _some(self, descriptor: int) -> bytes:
        try:
            return os.read(descriptor, 1 << 18)
        except OSError:
            return b""

    def _read_errors(self) -> None:
        descriptor = self.process.stderr.fileno()
        while data := self._some(descriptor):
            self.errors += data[: STDERR_KEPT - len(self.errors)]

    def write(self, data: bytes) -> None:
        """Write all of it; a server that has gone is not told."""
        view = memoryview(data)
        with contextlib.suppress(BrokenPipeError):
            while view:
                view = view[os.write(self.process.stdin.fileno(), view) :]

    def line(self, method: str, params: Any = None, **more: Any) -> bytes:
        """Return a message of this server's era as a line."""
        if self.era == STATELESS and method != "initialize" and (params is None or isinstance(params, dict)):
            params = {**(params or {}), "_meta": {**MODERN, **(params or {}).get("_meta", {})}}
        message = {"jsonrpc": "2.0", **more, "method": method}
        if params is not None:
            message["params"] = params
        return json.dumps(message).encode() + b"\n"

    def request(self, method: str, params: Any = None, identifier: Any = None) -> Any:
        if identifier is None:
            self._next += 1
            identifier = f"r{self._next}"
        self.write(self.line(method, params, id=identifier))
        return identifier

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self.write(self.line(method, params))

    def wait(self, identifier: Any, seconds: float = 10.0) -> Message:
        """Return the reply to a request; raise Fault if there is none in time."""
        seconds *= slack()
        reply = self.wait_if(identifier, seconds)
        require(reply is not None, f"no reply to {identifier!r} in {seconds:g} s", self.state())
        assert reply is not None
        return reply

    def wait_if(self, identifier: Any, seconds: float) -> Message | None:
        """Return the reply to a request, or None."""
        wanted = key(identifier)
        replies = self.replies
        with replies.changed:
            replies.changed.wait_for(lambda: wanted in replies.messages or replies.ended, seconds)
            found = replies.messages.get(wanted)
            return None if found is None else found[0]

    def wait_count(self, count: int, seconds: float) -> int:
        """Wait for so many lines; return how many there are."""
        with self.replies.changed:
            self.replies.changed.wait_for(lambda: self.replies.lines >= count or self.replies.ended, seconds * slack())
            return self.replies.lines

    def ask(self, method: str, params: Any = None, seconds: float = 10.0, identifier: Any = None) -> Message:
        return self.wait(self.request(method, params, identifier), seconds)

    def start_call(self, tool: str, identifier: Any = None, /, **arguments: Any) -> Any:
        """Call a tool; return the request's id."""
        return self.request("tools/call", {"name": tool, "arguments": arguments}, identifier)

    def call(self, tool: str, patience: float = 15.0, /, **arguments: Any) -> Message:
        return self.wait(self.start_call(tool, **arguments), patience)

    def result(self, tool: str, patience: float = 15.0, /, **arguments: Any) -> Message:
        return good(self.call(tool, patience, **arguments), tool)

    def shake(self) -> Server:
        """Begin the conversation as this era does."""
        if self.era == HANDSHAKE:
            self.initialize()
            self.notify("notifications/initialized")
        else:
            require("result" in self.ask("server/discover"), "server/discover failed", self.state())
        return self

    def initialize(self, seconds: float = 10.0) -> Message:
        """Shake hands; return the result."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "faults", "version": "1"}}
        reply = self.ask("initialize", params, seconds)
        require("result" in reply, "initialize failed:", reply)
        result: Message = reply["result"]
        return result

    def alive(self, seconds: float = 5.0) -> None:
        """Raise Fault unless it still serves."""
        reply = self.ask("tools/list", seconds=seconds)
        require("result" in reply, "it no longer lists tools:", reply)

    def state(self) -> str:
        """Return what there is to say about it, for a report."""
        ended = f"ended with {self.process.poll()}" if self.process.poll() is not None else "runs"
        said = self.errors[-300:].decode("utf-8", "replace").strip()
        return f"(the server {ended}; it said: {said!r})" if said else f"(the server {ended})"

    # What it is

    @property
    def pid(self) -> int:
        return self.process.pid

    def descriptors(self) -> int:
        """Return how many descriptors it has open."""
        try:
            return len(os.listdir(f"/proc/{self.pid}/fd"))
        except OSError:
            return 0

    def family(self, table: dict[int, Process] | None = None) -> list[Process]:
        """Return every process that is there because of this server, but not the server."""
        table = processes() if table is None else table
        found = {process.pid: process for process in below([self.pid], table)}
        found.update((process.pid, process) for process in carrying(self.mark, table))
        others = self._of_others(table)
        ours = (process for process in below([os.getpid()], table) if process.pid not in others)
        found.update((process.pid, process) for process in ours if COMMAND_SERVER not in process.words())
        found.update((pid, table[pid]) for pid, born in self._seen.items() if pid in table and table[pid].born == born)
        found.pop(self.pid, None)
        for pid in [pid for pid, process in found.items() if process.words().startswith(WINE_SERVICES)]:
            del found[pid]
            self.starts_services = True
        self._seen.update((process.pid, process.born) for process in found.values())
        return list(found.values())

    def _of_others(self, table: dict[int, Process]) -> set[int]:
        """Return the processes below this one that are there because of another test, and what descends from them."""
        roots = {pid for pid, born in self._others.items() if pid in table and table[pid].born == born}
        return roots | {process.pid for process in below(roots, table)}

    def wake(self) -> None:
        """Leave to other tests what came below this process while nobody asked the server for anything.

        It lives as long as many tests do, some of which start servers that live as long.  Its orphans fall to this process
        again, which the end of another server has changed.
        """
        adopt(True)
        table = processes()
        own = {self.pid, *(process.pid for process in (*below([self.pid], table), *carrying(self.mark, table)))}
        for process in below([os.getpid()], table):
            if process.pid not in own and self._seen.get(process.pid) != process.born:
                self._others[process.pid] = process.born

    def running(self) -> list[Process]:
        """Return those of its family that are not zombies which we have adopted."""
        table = processes()
        self._bury(table)
        return [process for process in self.family(table) if process.state not in "ZX" or process.parent != os.getpid()]

    def _bury(self, table: dict[int, Process]) -> None:
        """Take the status of what we have adopted and has ended."""
        kept = self._of_others(table) | {self.pid}
        for process in table.values():
            if process.state == "Z" and process.parent == os.getpid() and process.pid not in kept:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)

    # How it ends

    def close_input(self) -> None:
        """Say that nothing more comes."""
        if not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()

    def close_output(self) -> None:
        """Stop reading: the reader's end is replaced by nothing."""
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, self.process.stdout.fileno())
        os.close(null)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def ends(self, seconds: float) -> int:
        """Return its exit status; raise Fault if it does not end in time."""
        seconds *= slack()
        try:
            self.status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Fault(f"it has not ended after {seconds:g} s {self.state()}") from None
        return self.status

    def end(self, seconds: float = 5.0) -> None:
        """End it by the end of its input and judge what is left: this is done after every test."""
        if self.discarded:
            return
        problems = []
        try:
            self.family()
            self.close_input()
            try:
                self.ends(seconds)
            except Fault as fault:
                problems.append(str(fault))
            if problems:
                self.process.kill()
                self.process.wait()
            left = self.left(ORPHAN_SECONDS)
            problems += [f"left behind: {process}" for process in left[:5]]
            for thread in self._threads:
                thread.join(2 * slack())
            if any(thread.is_alive() for thread in self._threads) and not self.starts_services:
                problems.append("somebody still holds the server's standard output or error")
            problems += [f"no message: {line!r}" for line in self.replies.dirt[:3] if not self.may_print]
            twice = [name for name, found in self.replies.messages.items() if name != "null" and len(found) > 1]
            problems += [f"answered more than once: {twice[:5]}"] * bool(twice)
            files = sorted(self.temporary.rglob("*")) if self.temporary.exists() else []
            problems += [f"left in TMPDIR: {path.relative_to(self.temporary)}" for path in files[:5]]
        finally:
            self.discard()
        require(not problems, "; ".join(problems), self.state() if problems else "")

    def left(self, seconds: float) -> list[Process]:
        """Return what still runs after so long, once the server has ended; what has no command any more is ending."""

        def remaining() -> list[Process]:
            return [process for process in self.running() if process.words()]

        until(lambda: not remaining(), seconds)
        return remaining()

    def discard(self) -> None:
        """Leave nothing of it on this machine, whatever it was."""
        self.discarded = True
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        deadline = time.monotonic() + 10
        while (left := self.running()) and time.monotonic() < deadline:
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            time.sleep(POLL_SECONDS)
        adopt(False)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        remove(self.folder)


def remove(folder: Path) -> None:
    """Remove a folder, whatever modes its entries have."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
            path.rmdir()
        else:
            path.unlink()
    folder.rmdir()


def good(reply: Message, what: object = "") -> Message:
    """Return a reply's result; raise Fault if it is an error of either kind."""
    require("result" in reply and not reply["result"].get("isError"), f"{what} failed:", reply)
    result: Message = reply["result"]
    return result


def text(result: Message) -> str:
    return "".join(block.get("text", "") for block in result.get("content", ()))


def failed(reply: Message) -> str:
    """Return what a failed tool call says, whichever kind of error it is; raise Fault if it succeeded."""
    if "error" in reply:
        return str(reply["error"]["message"])
    require(reply["result"].get("isError") is True, "it was to fail, and did not:", reply)
    return text(reply["result"])


def code(reply: Message) -> int:
    require("error" in reply, "no error:", reply)
    number: int = reply["error"]["code"]
    return number
