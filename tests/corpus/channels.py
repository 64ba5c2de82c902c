"""Two ways to say a message to a server and to hear everything that comes of it: its pipes, and HTTP.

Either gives the same: the messages that came, the answer last.  What a server asks meanwhile is answered.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from corpus.cases import ANSWERS, INITIALIZED, STATELESS, VERSION_KEY, encoded, initialize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.serving import Served

Message = dict[str, Any]
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NAMED |= {f"tasks/{verb}": "taskId" for verb in ("get", "update", "cancel")}
PATIENCE = 30
"""Seconds for an answer."""


def answer_to(request: Message) -> Message:
    """Return what the client answers to a question of the server."""
    return {"jsonrpc": "2.0", "id": request["id"], "result": ANSWERS[request["method"]]}


def is_question(message: Message) -> bool:
    """Tell whether a message asks the client."""
    return "method" in message and "id" in message


class Pipes:
    """A server on its pipes, one conversation in one revision."""

    def __init__(self, artifact: Path, revision: str) -> None:
        self.sent: list[Message] = []
        self.kept = tempfile.TemporaryDirectory(prefix="mcpc-pipes-")
        variables = {**os.environ, "MCPC_TASKS": f"sqlite:{self.kept.name}/tasks.db"}
        argv = [sys.executable, str(artifact)]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables)
        if revision != STATELESS:
            self.greeting = self.say(encoded(initialize(revision)))
            self.write(encoded(INITIALIZED))

    def write(self, data: bytes) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def say(self, data: bytes) -> list[Message]:
        """Send a message, and return what came of it."""
        self.write(data)
        heard: list[Message] = []
        while not heard or "method" in heard[-1]:
            assert self.process.stdout is not None
            heard.append(json.loads(self.process.stdout.readline()))
            if is_question(heard[-1]):
                self.sent.append(answer_to(heard[-1]))
                self.write(encoded(self.sent[-1]))
        return heard

    def close(self) -> None:
        """End the conversation; the server ends with it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            assert self.process.wait(10) == 0
        finally:
            self.process.kill()
            self.process.stdout.close()
            self.kept.cleanup()


@dataclass(slots=True)
class Posts:
    """A served server, one conversation in one revision: a request each time, as clients of that revision make it."""

    server: Served
    revision: str
    session: str = ""
    greeting: list[Message] = field(default_factory=list)
    sent: list[Message] = field(default_factory=list)
    status: int = 0
    """That of the last answer."""

    def __post_init__(self) -> None:
        """Greet, in the handshake era."""
        if self.revision != STATELESS:
            self.greeting = self.say(encoded(initialize(self.revision)))
            assert self.session
            assert self.say(encoded(INITIALIZED)) == []

    def headers(self, data: bytes) -> dict[str, str]:
        """Return the headers that clients of this revision send with a message."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
            if self.revision >= "2025-06-18":
                headers["MCP-Protocol-Version"] = self.revision
        return headers if self.revision != STATELESS else {**headers, **mirrors(data)}

    def say(self, data: bytes) -> list[Message]:
        """Post a message, and return what came of it."""
        place = urlsplit(self.server.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)
        try:
            connection.request("POST", place.path, data, self.headers(data))
            response = connection.getresponse()
            self.status = response.status
            self.session = response.getheader("Mcp-Session-Id") or self.session
            return list(self.heard(response))
        finally:
            connection.close()

    def heard(self, response: http.client.HTTPResponse) -> Iterator[Message]:
        """Yield the messages of a response, and answer what is asked in it."""
        kind = (response.getheader("Content-Type") or "").partition(";")[0]
        if kind != "text/event-stream":
            body = response.read()
            yield from [json.loads(body)] if body else []
            return
        for message in events(response):
            yield message
            if is_question(message):
                self.sent.append(answer_to(message))
                assert Posts.say(self, encoded(self.sent[-1])) == []
            elif "method" not in message:
                return

    def close(self) -> None:
        """End the session, if there is one."""


def events(response: http.client.HTTPResponse) -> Iterator[Message]:
    """Yield the messages of an event stream."""
    data: list[bytes] = []
    for line in response:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            data.append(text[5:].removeprefix(b" "))
        elif not text and b"".join(data):
            yield json.loads(b"\n".join(data))
            data = []
        elif not text:
            data = []


def mirrors(data: bytes) -> dict[str, str]:
    """Return the headers that repeat what the body of a stateless request says; none of what cannot be read."""
    try:
        message = json.loads(data)
    except ValueError:
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return {"MCP-Protocol-Version": STATELESS}
    params = message.get("params", {})
    found = {
        "MCP-Protocol-Version": params.get("_meta", {}).get(VERSION_KEY, STATELESS),
        "Mcp-Method": message["method"],
    }
    name = params.get(NAMED.get(message["method"], ""))
    if isinstance(name, str):
        found["Mcp-Name"] = name
    region = (params.get("arguments") or {}) if isinstance(params.get("arguments"), dict) else {}
    return {**found, "Mcp-Param-Region": region["region"]} if "region" in region else found
