"""A server that this client starts: messages are lines of its standard input and output.

The process ends with the conversation: its input is closed, then it and what it started are ended.  One process may
answer several calls at a time: a thread passes each message to the call it is for.  A question of the server belongs to
the only call that it can be for.  If there are several, it is declined, and each of these calls knows that its reply
decides nothing.
"""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from mcpc.client.client import MAX_BYTES, STATELESS, ConversationError, Deadline, refusal
from mcpc.sandbox import programs
from mcpc.sandbox.platforms import GROUP_OPTIONS, ProgramGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Object = dict[str, Any]

LEAVE_SECONDS = 2.0
MAX_STRAY = 200
LINES = 64
"""How many received lines wait; then the server waits."""
PATIENCE_SECONDS = 86_400.0
"""How long the thread waits for the next message: a server may be quiet."""


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
                # A server that prints without end waits here, instead of filling the memory.
                self._room.acquire()
                self._lines.put(line)
        # The end, which takes no room: a line has at least its line break.
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
            received = self.receive(deadline)
            if "method" in received and received.get("id") is not None:
                self.notify(self.answer(received), deadline)
            elif received.get("id") == message["id"] and ("result" in received or "error" in received):
                return received

    def receive(self, deadline: Deadline) -> Object:
        """Return the next message; other lines are ignored, since many servers print some."""
        while True:
            try:
                # When the time is over, `seconds` raises an error, which ends the loop.
                line = self._lines.get(timeout=deadline.seconds())
            except Empty:
                continue
            if not line:
                raise ConversationError(self._ended())
            self._room.release()
            deadline.count(len(line))
            with suppress(ValueError, RecursionError):
                message = json.loads(line)
                if isinstance(message, dict):
                    return message
            self.stray = self.stray or line[:MAX_STRAY].decode("utf-8", "replace").strip()

    def _ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return f"it ended with status {self._process.wait(LEAVE_SECONDS)}"
        return "it closed its standard output"


@contextmanager
def started_server(command: Sequence[str], row: str = "server", **options: Any) -> Iterator[ProcessTransport]:
    """Start a server and yield the connection to it; raise ConversationError.

    `row`: that of the table of programs.  Its standard error is the caller's, unless `options` (those of
    `start_program`) has another.
    """
    try:
        process = programs.start_program(row, command, **{"stderr": None, **GROUP_OPTIONS, **options})
    except OSError as problem:
        raise ConversationError(f"it cannot be started: {problem.strerror or problem}") from None
    group = ProgramGroup(process)
    try:
        yield ProcessTransport(process)
    finally:
        with suppress(OSError, ValueError):
            if process.stdin:
                process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(LEAVE_SECONDS)
        # Also after it has ended by itself: what it started may still run, and keep its output open.
        group.end()
        process.wait()
        group.close()
        if process.stdout:
            process.stdout.close()


@dataclass(slots=True)
class Beginning:
    """Whether a conversation of the handshake era has begun, which several calls may want to begin at a time."""

    is_done: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class SharedProcess:
    """The messages of one process.  `decline`: makes the response to a question that could be for several calls."""

    def __init__(self, transport: ProcessTransport, decline: Callable[[Object], Object] = refusal) -> None:
        self.beginning = Beginning()
        self._transport = transport
        self._decline = decline
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, SharedTransport] = {}
        self._failure = ""
        threading.Thread(target=self._pass_messages, daemon=True).start()

    def conversation(self) -> SharedTransport:
        """Return a connection for one call at a time."""
        return SharedTransport(self)

    def send(self, message: Object, deadline: Deadline) -> None:
        """Write a message; raise ConversationError."""
        with self._lock:
            try:
                self._transport.notify(message, deadline)
            except ValueError:  # another call has failed, and closed the pipe
                raise ConversationError(self._failure or "it was ended") from None

    def begin_call(self, call: SharedTransport) -> int:
        """Return the number of a new request; raise ConversationError if the process has ended."""
        with self._lock:
            if self._failure:
                raise ConversationError(self._failure)
            number = next(self._numbers)
            self._waiting[number] = call
            return number

    def end_call(self, number: int) -> None:
        """Forget a request."""
        with self._lock:
            self._waiting.pop(number, None)

    def _pass_messages(self) -> None:
        try:
            while True:
                self._pass(self._transport.receive(Deadline(PATIENCE_SECONDS)))
        except ConversationError as problem:
            with self._lock:
                # Under the lock: a call that begins later sees the failure, and one that waits gets None.
                self._failure = str(problem)
                for call in self._waiting.values():
                    call.received.put(None)

    def _pass(self, message: Object) -> None:
        identifier = message.get("id")
        if "method" in message and identifier is not None:
            self.send(self._answer(message), Deadline(PATIENCE_SECONDS))
        elif isinstance(identifier, int) and ("result" in message or "error" in message):
            with self._lock:
                call = self._waiting.get(identifier)
            if call is not None:
                call.received.put(message)

    def _answer(self, question: Object) -> Object:
        with self._lock:
            asked = [call for call in self._waiting.values() if not call.is_stateless]
        # A question does not say which call it belongs to; with one call there is no doubt.
        if len(asked) == 1:
            return asked[0].answer(question)
        if question["method"] != "ping":
            for call in asked:
                call.is_undecided = True
        return self._decline(question)

    @property
    def failure(self) -> str:
        """Why there are no more messages; an empty text while there are."""
        return self._failure


class SharedTransport:
    """One call at a time of a process that others call, too.

    `answer`: makes the response to a question.  `is_undecided`: a question was declined that may have been its.
    """

    def __init__(self, process: SharedProcess) -> None:
        self.answer: Callable[[Object], Object] = refusal
        self.received: SimpleQueue[Object | None] = SimpleQueue()
        self.is_stateless = self.is_undecided = False
        self._process = process

    @property
    def beginning(self) -> Beginning:
        """Whether the process was greeted."""
        return self._process.beginning

    def use_revision(self, version: str) -> None:
        """Note whether the server can ask by requests."""
        self.is_stateless = version == STATELESS

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Write a message that has no response."""
        self._process.send(message, deadline)

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Write a request under a number of the process's own, and return its response."""
        self.is_undecided = False
        number = self._process.begin_call(self)
        try:
            self._process.send({**message, "id": number}, deadline)
            answer = self._received(deadline)
        finally:
            self._process.end_call(number)
        if answer is None:
            raise ConversationError(self._process.failure)
        return {**answer, "id": message["id"]}

    def _received(self, deadline: Deadline) -> Object | None:
        while True:
            try:
                return self.received.get(timeout=deadline.seconds())
            except Empty:
                continue
