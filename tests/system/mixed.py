"""A project with a little of everything, for tests of whole builds: Python and Bash tools, folders, prompts, data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
TEXT = '{"type": "object", "properties": {"text": {"type": "string", "maxLength": 40}}, "required": ["text"]}'

FILES: dict[str, str] = {
    "server.json": """{
  "serverInfo": {"name": "mixed", "version": "1.2.3", "title": "Gemischt — 混合"},
  "capabilities": {"tools": {}, "prompts": {}, "logging": {}},
  "instructions": "Count, measure and shout. Ünïcödé is fine: 🦆"
}
""",
    "tools.json": '{"tools": [{"name": "count", "description": "Counts words.", "inputSchema": ' + TEXT + "},\n"
    '{"name": "shout", "description": "Shouts, with one \\u2026 in its text.", "inputSchema": ' + TEXT + "}]}\n",
    "tools.d/10-measure.json": """{
  "name": "measure",
  "description": "Measures a text.",
  "inputSchema": {
    "type": "object",
    "properties": {"text": {"type": "string", "pattern": "^[^#]*$"}, "unit": {"enum": ["points", "bytes"]}},
    "required": ["text"]
  },
  "outputSchema": {"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]}
}
""",
    "tools.d/20-reverse.json": '{"tools": [{"name": "last-word", "description": "Says the last word.", '
    '"inputSchema": ' + TEXT + ', "annotations": {"readOnlyHint": true}}]}\n',
    "prompts.json": '{"prompts": [{"name": "greet", "description": "Greets.", '
    '"arguments": [{"name": "name", "required": true}]}]}\n',
    "prompts.d/part.json": '{"name": "part", "description": "Says goodbye."}\n',
    "tools.py": '''"""The Python tools."""

from words import split


def count(text):
    return f"{len(split(text))} words"


def measure(text, unit="points"):
    return {"length": len(text if unit == "points" else text.encode())}
''',
    "words.py": '"""What counts as a word."""\n\n\ndef split(text):\n    return text.split()\n',
    "prompts.py": 'def greet(name):\n    return f"Hello, {name}."\n\n\ndef part():\n    return "Goodbye."\n',
    "tools.bash": """text_of() {
  local text=${1#*'"text": "'}
  printf '%s' "${text%'"'*}"
}

tool_shout() {
  local text
  text=$(text_of "$1")
  printf '%s!' "${text^^}"
}

tool_last_word() {
  local text
  text=$(text_of "$1")
  printf '%s' "${text##* }"
}
export -f text_of tool_shout tool_last_word
""",
    "data/numbers.txt": "1\n2\n3\n",
    "data/deeper/eins.txt": "eins\n",
}


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
