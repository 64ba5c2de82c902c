"""Log lines for calls of tools and prompts: time, name, status, milliseconds.  Argument values are never logged.

Over standard input and output, calls are derived from the messages that pass; over HTTP, from the server's call log,
which it writes to a named pipe.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.formats.visible import visible
from mcpc.sandbox.platforms.log_pipes import open_log_pipe
from mcpc.workbench.dev.messages import answered_requests, id_key, params_of, parse_messages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcpc.workbench.dev.messages import Message
    from mcpc.workbench.dev.screen import Screen

CALL_LOG = "MCPC_CALL_LOG"
METHODS = {"tools/call": "", "prompts/get": "prompt "}
"""The methods that are logged, with the label before the name."""
MAX_NAME_LENGTH = 80
"""In characters; a client may send any name."""
MAX_LINE_LENGTH = 1 << 20
IS_ERROR = re.compile(rb'"isError":\s*true')
STATUSES = {"success": "ok"}
"""Statuses that the call log names differently."""


class CallLines:
    """Writes the log lines."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def show(self, name: str, status: str, milliseconds: float) -> None:
        """Write the line of a finished call; it is dropped if standard error is not read."""
        screen = self._screen
        now = screen.paint(time.strftime("%H:%M:%S"), "faint")
        ended = screen.paint(status, "good" if status == "ok" else "bad")
        screen.write(f"{now} {visible(name, MAX_NAME_LENGTH)} {ended} {milliseconds:.0f} ms", 0.0)


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call without an answer: its name, and when the server received it."""

    name: str
    since: float


class CallWatch:
    """The open calls of one conversation, derived from its messages.  Memory: O(unanswered requests)."""

    def __init__(self, lines: CallLines) -> None:
        self._lines = lines
        self._begun: dict[str, PendingCall] = {}

    def begin(self, messages: Sequence[Message]) -> None:
        """Record the calls in a message to the server."""
        for message in messages:
            method, params = message.get("method"), params_of(message)
            if method == "notifications/cancelled":
                self.end(id_key(params.get("requestId")), "cancelled")
            elif method in METHODS and "id" in message:
                name = METHODS[method] + str(params.get("name"))[: MAX_NAME_LENGTH + 1]
                self._begun[id_key(message["id"])] = PendingCall(name, time.monotonic())

    def finish(self, line: bytes) -> None:
        """Process a line of the server."""
        if not self._begun:
            return
        for identifier, is_done in answered_requests(line):
            if identifier in self._begun:
                self.end(identifier, "ok" if is_done and not is_tool_error(line, identifier) else "error")

    def end(self, identifier: str, status: str) -> None:
        """Write the line of a finished call."""
        begun = self._begun.pop(identifier, None)
        if begun is not None:
            self._lines.show(begun.name, status, (time.monotonic() - begun.since) * 1000)


def is_tool_error(line: bytes, identifier: str) -> bool:
    """Tell whether a result is a tool error; a line is parsed only if it may be one."""
    if IS_ERROR.search(line) is None:
        return False
    for message in parse_messages(line):
        result = message.get("result")
        if id_key(message.get("id")) == identifier and isinstance(result, dict):
            return result.get("isError") is True
    return False


class CallPipe:
    """The call log of HTTP servers, read from a named pipe; a log that the user configured is left alone."""

    def __init__(self, folder: Path, lines: CallLines) -> None:
        self.variables: dict[str, str] = {}
        self._lines = lines
        if CALL_LOG not in os.environ:
            path = folder / "calls"
            stream = open_log_pipe(path)
            self.variables = {CALL_LOG: str(path)}
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        buffer = b""
        while data := stream.read(1 << 16):
            *whole, buffer = (buffer + data).split(b"\n")
            buffer = buffer[:MAX_LINE_LENGTH]
            for line in whole:
                self._take(line)

    def _take(self, line: bytes) -> None:
        """Write the line of a call; nested calls and resources in the log are ignored."""
        try:
            facts = json.loads(line)
            if not isinstance(facts, dict):
                return
            status, took = str(facts["status"]), float(facts["milliseconds"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        for kind, word in (("tool", ""), ("prompt", "prompt ")):
            if kind in facts and not facts.get("chain"):
                self._lines.show(word + str(facts[kind]), STATUSES.get(status, status), took)
