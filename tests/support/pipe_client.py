"""A client of a server on pipes that needs nothing of the operating system but pipes and threads.

It reads what a server says as it comes and never waits for the end of an output: under Wine other processes may hold it.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from support.slack import slack

Message = dict[str, Any]

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
CAPABILITIES: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
}
PATIENCE = 30.0
"""Seconds that a message may take, multiplied on a loaded machine."""
ERRORS_KEPT = 1 << 16


class PipeClient:
    """A process and what it said, until the block ends.  `answer`: what the client answers to the server's requests."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        revision: str = HANDSHAKE,
        cwd: Path | None = None,
        answer: Callable[[Message], Message] | None = None,
    ) -> None:
        pipe = subprocess.PIPE
        self.revision = revision
        self.answer = answer
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd=cwd, bufsize=0
        )
        self.messages: list[Message] = []
        self.noise: list[bytes] = []
        self.errors = b""
        self.is_reading = threading.Event()
        self.is_reading.set()
        self.has_ended = False
        self.number = 0
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> PipeClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What the server says

    def _read(self) -> None:
        stream = opened(self.process.stdout)
        pending: list[bytes] = []
        while data := read_some(stream):
            *lines, rest = data.split(b"\n")
            for line in lines:
                self._take(b"".join([*pending, line]))
                pending.clear()
            pending.append(rest)
            self.is_reading.wait()
        with self._changed:
            self.has_ended = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        with self._changed:
            if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
                self.messages.append(message)
            else:
                self.noise.append(line)
            self._changed.notify_all()
        if message and "method" in message and "id" in message and self.answer is not None:
            self.send({"id": message["id"], "result": self.answer(message)})

    def _read_errors(self) -> None:
        stream = opened(self.process.stderr)
        while data := read_some(stream):
            with self._changed:
                self.errors = (self.errors + data)[-ERRORS_KEPT:]
                self._changed.notify_all()

    def until(self, condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """Wait until something that a message can change is true; return it, or the last false value."""
        with self._changed:
            deadline = time.monotonic() + seconds * slack()
            while not (found := condition()) and (left := deadline - time.monotonic()) > 0:
                if self.has_ended:
                    return condition()
                self._changed.wait(min(left, 1.0))
            return found

    def said(self, text: bytes, seconds: float = PATIENCE) -> bool:
        """Wait until standard error has this text."""
        return bool(self.until(lambda: text in self.errors, seconds))

    # What the client says

    def write(self, data: bytes) -> None:
        stream = opened(self.process.stdin)
        view = memoryview(data)
        with self._writing:
            while view:
                view = view[stream.write(view) :]

    def send(self, message: Message) -> None:
        self.write(self.line(message))

    def line(self, message: Message) -> bytes:
        if self.revision == STATELESS and "method" in message and message["method"] != "initialize":
            params = message.get("params") or {}
            message = {**message, "params": {**params, "_meta": {**ENVELOPE, **params.get("_meta", {})}}}
        return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    def begin(self, method: str, params: Message | None = None) -> int:
        """Send a request, and return its id."""
        with self._writing:
            self.number += 1
            number = self.number
        self.send({"id": number, "method": method, **({} if params is None else {"params": params})})
        return number

    def begin_call(self, tool: str, /, **arguments: Any) -> int:
        """Call a tool, and return the request's id."""
        return self.begin("tools/call", {"name": tool, "arguments": arguments})

    def reply(self, number: int, seconds: float = PATIENCE) -> Message:

        def found() -> Message | None:
            own = (one for one in reversed(self.messages) if one.get("id") == number and "method" not in one)
            return next(own, None)

        message: Message | None = self.until(found, seconds)
        assert message is not None, f"no reply to {number}: status {self.process.poll()}, {self.errors[-2000:]!r}"
        return message

    def ask(self, method: str, params: Message | None = None, seconds: float = PATIENCE) -> Message:
        return self.reply(self.begin(method, params), seconds)

    def call(self, tool: str, /, **arguments: Any) -> Message:
        """Call a tool, and return the result, which may be an error of the tool's."""
        reply = self.reply(self.begin_call(tool, **arguments))
        assert "result" in reply, reply
        result: Message = reply["result"]
        return result

    def text(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool, and return the text of its result, which is not an error."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return text_of(result)

    def greet(self) -> Message:
        """Begin the conversation as clients of this revision do; return the server's description."""
        if self.revision == STATELESS:
            result: Message = self.ask("server/discover")["result"]
            return result
        identity = {"name": "platforms", "version": "1"}
        params = {"protocolVersion": self.revision, "capabilities": CAPABILITIES, "clientInfo": identity}
        result = self.ask("initialize", params)["result"]
        self.send({"method": "notifications/initialized"})
        return result

    def notices(self, method: str) -> list[Message]:
        """Return the notifications of a method that have come."""
        with self._changed:
            return [message for message in self.messages if message.get("method") == method]

    # How it ends

    def close_input(self) -> None:
        """Say that nothing more comes."""
        opened(self.process.stdin).close()

    def ends(self, seconds: float = PATIENCE) -> int:
        """Return the exit status; TimeoutExpired if it does not end."""
        return self.process.wait(seconds * slack())

    def close(self) -> None:
        """End the process if it has not ended, and close its pipes."""
        self.is_reading.set()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        close(opened(self.process.stdin))
        for thread, stream in zip(self._threads, (self.process.stdout, self.process.stderr), strict=True):
            thread.join(PATIENCE)
            if not thread.is_alive():  # or another process holds the pipe, and the thread still reads it
                close(opened(stream))


def opened(stream: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe of a process, which is there."""
    assert stream is not None
    return stream


def read_some(stream: IO[bytes]) -> bytes:
    """Return what a pipe has next, nothing at its end or once it is closed."""
    try:
        return stream.read(1 << 18)
    except (OSError, ValueError):
        return b""


def close(stream: IO[bytes]) -> None:
    """Close a pipe, whoever has closed its other end."""
    try:
        stream.close()
    except OSError:
        return


def text_of(result: Message) -> str:
    return "".join(block.get("text", "") for block in result["content"])
