"""Clients of a server over standard input and output: one that talks, and one that says all at once."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from support.conversing import converse

Message = dict[str, Any]

LEGACY = "2025-11-25"
PATIENCE = 30.0
"""Seconds that a message may take to come."""


def initialization(version: str = LEGACY, capabilities: object = None) -> Message:
    """Return the parameters of `initialize`."""
    return {
        "protocolVersion": version,
        "capabilities": {} if capabilities is None else capabilities,
        "clientInfo": {"name": "t", "version": "1"},
    }


def encoded(message: Message) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


class StdioClient:
    """A client of a server in a separate process, until `close`.

    `answers`: the answers to the server's requests; without it such a request is a message like any other.
    `environment`: variables besides those of the test; `variables`: all of them.
    """

    answers: Callable[[Message], Message] | None = None

    def __init__(
        self,
        *words: str | Path,
        environment: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        env = {**(os.environ if variables is None else variables), **(environment or {})}
        self.process: subprocess.Popen[bytes] = subprocess.Popen([sys.executable, *words], env=env, **pipes)
        self.number = 0
        self.pending = b""
        self.said: list[Message] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Message) -> None:
        self.write(encoded(message))

    def begin(self, method: str, params: object = None) -> int:
        """Send a request, and return its id."""
        self.number += 1
        self.send({"id": self.number, "method": method, **({} if params is None else {"params": params})})
        return self.number

    def message(self, seconds: float = PATIENCE) -> Message:
        """Return the next message; a request of the server's is answered, if there is an answer."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"nothing came within {seconds} s after {self.said}"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, self.process.stderr.read() if self.process.stderr else "the server has gone"
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        message: Message = json.loads(line)
        self.said.append(message)
        if "method" in message and "id" in message and self.answers is not None:
            self.send({"id": message["id"], **self.answers(message)})
        return message

    def reply(self, number: object) -> Message:
        """Return the reply to a request, which may have come already."""
        for found in self.said:
            if found.get("id") == number and "method" not in found:
                return found
        while (found := self.message()).get("id") != number or "method" in found:
            continue
        return found

    def ask(self, method: str, params: object = None) -> Message:
        return self.reply(self.begin(method, params))

    def call_tool(self, tool: str, /, **arguments: object) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def initialize(self, version: str = LEGACY, capabilities: object = None) -> Message:
        """Begin a session, and return the server's description."""
        result: Message = self.ask("initialize", initialization(version, capabilities))["result"]
        self.send({"method": "notifications/initialized"})
        return result

    def end(self) -> tuple[bytes, bytes]:
        """End the conversation; return the remaining messages, and the server's standard error."""
        said, complained = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, complained
        return self.pending + said, complained or b""

    def close(self) -> None:
        """End the process, if it has not ended; what it said on standard error is printed for a test that fails."""
        self.process.kill()
        _, complained = self.process.communicate()
        sys.stderr.write((complained or b"").decode("utf-8", "replace"))


def only_text(result: Any) -> str:
    (block,) = result["content"]
    return str(block["text"])


def conversation(
    server: Path | Sequence[str | Path], messages: Iterable[Message], **how: Any
) -> tuple[subprocess.CompletedProcess[bytes], list[Message]]:
    """Say all of these messages to a server, and return its process, which ended well, and all that it said.

    `server`: its file, or the words that start it.
    """
    argv = list(server) if isinstance(server, (list, tuple)) else [server]
    done = converse(argv, b"".join(map(encoded, messages)), **how)
    assert done.returncode == 0, done.stderr
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def exchange(server: Path | Sequence[str | Path], messages: Iterable[Message], **how: Any) -> list[Message]:
    return conversation(server, messages, **how)[1]


def numbered(requests: Iterable[tuple[str, object]]) -> list[Message]:
    """Return requests, each with its place as its id; None: without parameters."""
    return [
        {"id": number, "method": method, **({} if params is None else {"params": params})}
        for number, (method, params) in enumerate(requests)
    ]


def replies(server: Path | Sequence[str | Path], requests: Iterable[tuple[str, object]], **how: Any) -> list[Message]:
    messages = numbered(requests)
    said = exchange(server, messages, **how)
    found = {reply["id"]: reply for reply in said if "id" in reply and "method" not in reply}
    return [found[message["id"]] for message in messages]
