"""A line for each call of a tool or a prompt: time, name, how it ended, milliseconds.  Never a value of an argument.

Over standard input and output the messages that pass tell of calls; over HTTP the server's own call log does, which it
writes into a named pipe.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.dev.words import answered, key, messages, parameters
from mcpc.diagnostics.formats.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcpc.dev.screen import Screen
    from mcpc.dev.words import Message

CALL_LOG = "MCPC_CALL_LOG"
METHODS = {"tools/call": "", "prompts/get": "prompt "}
"""The requests that are shown, with the word before the name."""
MOST_CHARACTERS = 80
"""Of a name: a client may ask for any."""
LONGEST_LINE = 1 << 20
IS_ERROR = re.compile(rb'"isError":\s*true')
STATUSES = {"success": "ok"}
"""What the call log calls otherwise."""


class CallLines:
    """Writes the lines."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def show(self, name: str, status: str, milliseconds: float) -> None:
        """Write the line of a call that ended; where nobody reads, it is dropped."""
        screen = self._screen
        now = screen.paint(time.strftime("%H:%M:%S"), "faint")
        ended = screen.paint(status, "good" if status == "ok" else "bad")
        screen.write(f"{now} {visible(name, MOST_CHARACTERS)} {ended} {milliseconds:.0f} ms", 0.0)


@dataclass(frozen=True, slots=True)
class Begun:
    """A call without an answer: its name, and when the server was told of it."""

    name: str
    since: float


class CallWatch:
    """The calls of one conversation, by the messages that pass.  Memory: O(requests without an answer)."""

    def __init__(self, lines: CallLines) -> None:
        self._lines = lines
        self._begun: dict[str, Begun] = {}

    def asked(self, said: Sequence[Message]) -> None:
        """Take in what the server is told."""
        for message in said:
            method, params = message.get("method"), parameters(message)
            if method == "notifications/cancelled":
                self.end(key(params.get("requestId")), "cancelled")
            elif method in METHODS and "id" in message:
                name = METHODS[method] + str(params.get("name"))[: MOST_CHARACTERS + 1]
                self._begun[key(message["id"])] = Begun(name, time.monotonic())

    def heard(self, line: bytes) -> None:
        """Take in what the server says."""
        if not self._begun:
            return
        for identifier, is_done in answered(line):
            if identifier in self._begun:
                self.end(identifier, "ok" if is_done and not tells_of_error(line, identifier) else "error")

    def end(self, identifier: str, status: str) -> None:
        """Write the line of a call, if it is one."""
        begun = self._begun.pop(identifier, None)
        if begun is not None:
            self._lines.show(begun.name, status, (time.monotonic() - begun.since) * 1000)


def tells_of_error(line: bytes, identifier: str) -> bool:
    """Tell whether the result of a request is a tool's error; a line is only parsed if it may be one."""
    if IS_ERROR.search(line) is None:
        return False
    for message in messages(line):
        result = message.get("result")
        if key(message.get("id")) == identifier and isinstance(result, dict):
            return result.get("isError") is True
    return False


class CallPipe:
    """The call log of servers over HTTP, as a named pipe; where the user wants a log, that one is left alone."""

    def __init__(self, folder: Path, lines: CallLines) -> None:
        self.variables: dict[str, str] = {}
        self._lines = lines
        if CALL_LOG not in os.environ:
            path = folder / "calls"
            os.mkfifo(path, 0o600)
            self.variables = {CALL_LOG: str(path)}
            # Open for writing as well: it has no end when one server has ended and the next one has not begun.
            stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CLOEXEC), "rb", buffering=0)
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        buffer = b""
        while data := stream.read(1 << 16):
            *whole, buffer = (buffer + data).split(b"\n")
            buffer = buffer[:LONGEST_LINE]
            for line in whole:
                self._take(line)

    def _take(self, line: bytes) -> None:
        """Write the line of a call; the log also tells of calls that other calls made, and of resources."""
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
