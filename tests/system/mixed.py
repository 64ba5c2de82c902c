"""A project with a little of everything, for tests of whole builds: Python and Bash tools, folders, prompts, data."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import yaml

STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
TEXT = '{"type": "object", "properties": {"text": {"type": "string", "maxLength": 40}}, "required": ["text"]}'

DATA = yaml.safe_load(Path(__file__).with_name("mixed.yaml").read_text("utf-8"))
FILES = DATA["FILES"]


def write(folder: Path, order: Callable[[Iterable[str]], Iterable[str]] = sorted) -> Path:
    """Write the project into `folder`, its files in this order; return the folder."""
    for name in order(FILES):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILES[name], encoding="utf-8", newline="")
    return folder


def lines(*requests: tuple[str, dict[str, object]]) -> bytes:
    """Return requests as lines, their ids their places."""
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests)
    ]
    return "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages).encode()
