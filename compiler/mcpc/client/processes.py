"""A server that this client starts: messages are lines of its standard input and output.

The process ends with the conversation: its input is closed, then it and what it started are ended.
"""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from mcpc.client.client import MAX_BYTES, ConversationError, refusal
from mcpc.sandbox import programs
from mcpc.sandbox.platforms.program_groups import GROUP_OPTIONS, ProgramGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.client.client import Deadline

    Object = dict[str, Any]

LEAVE_SECONDS = 2.0
MAX_STRAY = 200
LINES = 64
"""How many received lines wait; then the server waits."""


class ProcessTransport:
    """The connection to a process, whose output lines a thread transfers."""

    def __init__(self, process: subprocess.Popen[bytes], answer: Callable[[Object], Object] = refusal) -> None:
        self.answer = answer
        self._process = process
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self.stray = ""
        """The first line that was not a message, cut."""
        self._room = threading.Semaphore(LINES)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stream = self._process.stdout
        with suppress(OSError, ValueError):
            while stream and (line := stream.readline(MAX_BYTES)):
                self._room.acquire()
                self._lines.put(line)
        self._lines.put(b"")

    def use_revision(self, version: str) -> None:
        """Do nothing: no line depends on the revision."""

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Write a message.  All messages of this client together fit into a pipe, so that no write waits."""
        deadline.seconds()
        stream = self._process.stdin
        try:
            if stream:
                stream.write(json.dumps(message).encode() + b"\n")
                stream.flush()
        except OSError:
            raise ConversationError(self._ended()) from None

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Write a request, and return its response; a request of the server is answered."""
        self.notify(message, deadline)
        while True:
            found = self.receive(deadline)
            if "method" in found and found.get("id") is not None:
                self.notify(self.answer(found), deadline)
            elif found.get("id") == message["id"] and ("result" in found or "error" in found):
                return found

    def receive(self, deadline: Deadline) -> Object:
        """Return the next message; other lines are ignored, since many servers print some."""
        while True:
            try:
                line = self._lines.get(timeout=deadline.seconds())
            except Empty:
                continue
            if not line:
                raise ConversationError(self._ended())
            self._room.release()
            deadline.count(len(line))
            with suppress(ValueError, RecursionError):
                found = json.loads(line)
                if isinstance(found, dict):
                    return found
            self.stray = self.stray or line[:MAX_STRAY].decode("utf-8", "replace").strip()

    def _ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return f"it ended with status {self._process.wait(LEAVE_SECONDS)}"
        return "it closed its standard output"


@contextmanager
def started_server(command: Sequence[str], **options: Any) -> Iterator[ProcessTransport]:
    """Start a server and yield the connection to it; raise ConversationError.

    Its standard error is the caller's, unless `options` (those of `start_program`) has another.
    """
    try:
        process = programs.start_program("server", command, **{"stderr": None, **GROUP_OPTIONS, **options})
    except OSError as problem:
        raise ConversationError(f"it cannot be started: {problem.strerror or problem}") from None
    with conversation_with(process) as transport:
        yield transport


@contextmanager
def conversation_with(process: subprocess.Popen[bytes]) -> Iterator[ProcessTransport]:
    """Yield the connection to a process that was started with GROUP_OPTIONS; it ends with the block."""
    group = ProgramGroup(process)
    try:
        yield ProcessTransport(process)
    finally:
        with suppress(OSError, ValueError):
            if process.stdin:
                process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(LEAVE_SECONDS)
        group.end()
        process.wait()
        group.close()
        if process.stdout:
            process.stdout.close()
