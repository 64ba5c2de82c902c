"""Projects of mcp-bash for tests, and a client that talks to what is built of them."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

BASH = "#!/usr/bin/env bash\n"
SDK = BASH + 'source "${MCP_SDK:?}/tool-sdk.sh"\n'
ALLOW = {"MCPBASH_TOOL_ALLOW_DEFAULT": "allow"}
ABOUT = {"name": "case", "title": "Case", "version": "1.2.3", "description": "Acceptance."}


def write(folder: Path, tools: Mapping[str, tuple[str, dict[str, Any]]], **files: str) -> Path:
    for name, (script, meta) in tools.items():
        place = folder / "tools" / name
        place.mkdir(parents=True)
        (place / "tool.sh").write_text(script)
        (place / "tool.sh").chmod(0o755)
        (place / "tool.meta.json").write_text(json.dumps({"name": name, "description": "D.", **meta}))
    for path, text in {"server.d/server.meta.json": json.dumps(ABOUT), **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        if path.endswith(".sh"):
            (folder / path).chmod(0o755)
    return folder


class Client:
    """A client over standard input and output that reads what comes, and answers what it is asked."""

    def __init__(self, server: Path, environment: Mapping[str, str], answers: Callable[[dict], dict] | None) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MCP_", "MCPBASH_"))}
        self.process = subprocess.Popen(
            [sys.executable, server],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**kept, **environment},
        )
        self.answers = answers
        self.said: list[dict] = []
        self.number = 0
        self._rest = b""

    def send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def read(self, seconds: float = 20.0) -> dict:
        """The next message; what asks is answered."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"nothing came within {seconds} s after {self.said}"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, f"the server has gone: {self.process.stderr.read()!r}"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message = json.loads(line)
        self.said.append(message)
        if "method" in message and "id" in message and self.answers is not None:
            self.send({"id": message["id"], **self.answers(message)})
        return message

    def begin(self, method: str, params: Any = None) -> int:
        self.number += 1
        self.send({"id": self.number, "method": method, **({} if params is None else {"params": params})})
        return self.number

    def ask(self, method: str, params: Any = None) -> dict:
        number = self.begin(method, params)
        while True:
            message = self.read()
            if message.get("id") == number and "method" not in message:
                return message

    def call(self, name: str, arguments: Any = None, **more: Any) -> dict:
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more})

    def start(self, version: str = "2025-06-18", **capabilities: Any) -> dict:
        client = {"name": "t", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": client}
        answer = self.ask("initialize", params)
        self.send({"method": "notifications/initialized"})
        return answer["result"]

    def close(self) -> bytes:
        self.process.stdin.close()
        self.process.stdin = None
        return self.process.communicate(timeout=20)[1]


@contextmanager
def clients() -> Iterator[Callable[..., Client]]:
    """What makes clients; those that are still there at the end are ended."""
    opened: list[Client] = []

    def make(server: Path, answers: Callable[[dict], dict] | None = None, **environment: str) -> Client:
        made = Client(server, environment or ALLOW, answers)
        opened.append(made)
        return made

    yield make
    for one in opened:
        if one.process.poll() is None and one.process.stdin is not None:
            one.close()
        one.process.kill()
        one.process.wait()


def error(reply: dict) -> tuple[int, str]:
    return reply["error"]["code"], reply["error"]["message"]


def text(reply: dict) -> str:
    return reply["result"]["content"][0]["text"]
