"""One process over pipes that answers several calls at a time: a thread passes each message to the call it is for.

A question of the server belongs to the only call that it can be for.  If there are several, it is declined, and each of
these calls knows that its reply decides nothing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from itertools import count
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from mcpc.client.client import STATELESS, ConversationError, Deadline, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.client.processes import ProcessTransport

    Object = dict[str, Any]

PATIENCE_SECONDS = 86_400.0
"""How long the thread waits for the next message: a server may be quiet."""


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
            found = self._received(deadline)
        finally:
            self._process.end_call(number)
        if found is None:
            raise ConversationError(self._process.failure)
        return {**found, "id": message["id"]}

    def _received(self, deadline: Deadline) -> Object | None:
        while True:
            try:
                return self.received.get(timeout=deadline.seconds())
            except Empty:
                continue
