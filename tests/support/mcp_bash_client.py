"""Projects of mcp-bash for tests, and a client that talks to what is built of them."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.stdio import StdioClient

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


class Client(StdioClient):
    """A client of a server that finds these variables, and none of the machine's that decide what a server does."""

    def __init__(self, server: Path, environment: Mapping[str, str], answers: Callable[[dict], dict] | None) -> None:
        self.answers = answers
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MCP_", "MCPBASH_"))}
        super().__init__(server, variables={**kept, **environment})

    def call(self, name: str, arguments: Any = None, **more: Any) -> dict:
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more})

    def start(self, version: str = "2025-06-18", **capabilities: Any) -> dict:
        return self.initialize(version, capabilities)

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
