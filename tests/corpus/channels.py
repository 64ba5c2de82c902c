"""Two ways to say a message to a server and to hear everything that comes of it: its pipes, and HTTP.

Either gives the same: the messages that came, the answer last.  What a server asks meanwhile is answered.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from corpus.cases import ANSWERS, INITIALIZED, STATELESS, VERSION_KEY, Case, encoded, initialize
from support.serving import Served

Message = dict[str, Any]
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NAMED |= {f"tasks/{verb}": "taskId" for verb in ("get", "update", "cancel")}
PROGRESS = "notifications/progress"
CHANGING = ("requestState", "taskId", "createdAt", "lastUpdatedAt")
"""What is another each time."""
PATIENCE = 30
"""Seconds for an answer."""


def answer_to(request: Message) -> Message:
    return {"jsonrpc": "2.0", "id": request["id"], "result": ANSWERS[request["method"]]}


def is_question(message: Message) -> bool:
    return "method" in message and "id" in message


class Pipes:
    """A server on its pipes, one conversation in one revision."""

    def __init__(self, server: Path | Sequence[str], revision: str, variables: Mapping[str, str] | None = None) -> None:
        """Start a server: its file, or the whole command; `variables`: all of its environment.

        A process under Wine cannot write its errors to the file that pytest collects them in, so they have a pipe.
        """
        self.sent: list[Message] = []
        self.kept = tempfile.TemporaryDirectory(prefix="mcpc-pipes-")
        if variables is None:
            variables = {**os.environ, "MCPC_TASKS": f"sqlite:{self.kept.name}/tasks.db"}
        argv = [*server] if isinstance(server, (list, tuple)) else [sys.executable, str(server)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=variables)
        self._draining = threading.Thread(target=self._drain, daemon=True)
        self._draining.start()
        if revision != STATELESS:
            self.greeting = self.say(encoded(initialize(revision)))
            self.write(encoded(INITIALIZED))

    def _drain(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                sys.stderr.write(line.decode("utf-8", "replace"))

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def say(self, data: bytes) -> list[Message]:
        self.write(data)
        heard: list[Message] = []
        while not heard or "method" in heard[-1]:
            heard.append(json.loads(self.process.stdout.readline()))
            if is_question(heard[-1]):
                self.sent.append(answer_to(heard[-1]))
                self.write(encoded(self.sent[-1]))
        return heard

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            assert self.process.wait(10) == 0
        finally:
            self.process.kill()
            self.process.stdout.close()
            self._draining.join(10)
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
        if self.revision != STATELESS:
            self.greeting = self.say(encoded(initialize(self.revision)))
            assert self.session
            assert self.say(encoded(INITIALIZED)) == []

    def headers(self, data: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
            if self.revision >= "2025-06-18":
                headers["MCP-Protocol-Version"] = self.revision
        return headers if self.revision != STATELESS else {**headers, **mirrors(data)}

    def say(self, data: bytes) -> list[Message]:
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


def rounds(case: Case, channel: Pipes | Posts) -> list[Message]:
    """Say a message, and as long as it is answered with questions say it again with answers to them.

    Return what came, less the progress that more progress followed: a server leaves that out if it comes at once.
    """
    heard = all_rounds(case, channel)
    followed = [one.get("method") == next_one.get("method") == PROGRESS for one, next_one in pairwise(heard)]
    return [message for message, is_followed in zip(heard, [*followed, False], strict=True) if not is_followed]


def all_rounds(case: Case, channel: Pipes | Posts) -> list[Message]:
    """Return all that came of a message, and of the answers to questions."""
    heard = channel.say(case.data)
    if case.message is None:
        return heard
    message = case.message
    while heard[-1].get("result", {}).get("resultType") == "input_required":
        result = heard[-1]["result"]
        answers = {key: ANSWERS[question["method"]] for key, question in result["inputRequests"].items()}
        params = {**message["params"], "inputResponses": answers, "requestState": result["requestState"]}
        message = {**message, "id": f"{message['id']}'", "params": params}
        assert len(heard) < 10, "it asks and asks"
        heard += channel.say(encoded(message))
    return heard


def steady(message: Message) -> str:
    """Return a message without what is another each time; an id that could not be read may be null or left out."""
    text = json.dumps({**message, "id": "question" if is_question(message) else message.get("id")}, sort_keys=True)
    return json.dumps(json.loads(text, object_hook=without_changing), sort_keys=True)


def without_changing(members: Message) -> Message:
    return {key: "…" if key in CHANGING else value for key, value in members.items()}
