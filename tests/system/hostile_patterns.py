"""Ordinary looking schemas, and for each the argument of a megabyte that takes `re`, or a set, longest to judge."""

import json
from functools import cache
from pathlib import Path
from typing import Any

MEGABYTE = 1_000_000
EMAIL = r"^[^\s@]+@[^\s@]+\.[^\s@]+$"
HUGE = (1 << 61) - 1

PLAIN = "plain"
"""A tool that asks for nothing of its argument: what a megabyte costs without any pattern."""
ROWS: dict[str, tuple[dict[str, Any], Any]] = {
    PLAIN: ({}, "a" * MEGABYTE),
    "address": ({"pattern": "[a-z]+@[a-z]+"}, "a" * MEGABYTE),
    "blanks": ({"pattern": r"\s+$"}, " " * (MEGABYTE - 1) + "x"),
    "cubic": ({"pattern": "^a*a*a*b$"}, "a" * MEGABYTE),
    "cubic_read_whole": ({"pattern": "^a*a*a*b$"}, "a" * (MEGABYTE - 1) + "b"),
    "power_of_eight": ({"pattern": "^a*a*a*a*a*a*a*a*b$"}, "a" * MEGABYTE),
    "exponential_if_long": ({"pattern": "^(a+)+$", "maxLength": 12}, "a" * MEGABYTE),
    "many_exponential": ({"items": {"pattern": "^(a+)+$", "maxLength": 12}}, ["aaaaaaaaaaa!"] * (MEGABYTE // 15)),
    "email": ({"pattern": EMAIL}, "a@" + "." * (MEGABYTE - 3) + "@"),
    "many_emails": ({"items": {"pattern": EMAIL}}, ["a@" + "." * 200 + "@"] * (MEGABYTE // 206)),
    "quoted": ({"pattern": '"(?:[^"\\\\]|\\\\.)*"'}, '\\"' * (MEGABYTE // 3)),
    "reference": ({"pattern": r"^(a+)\1$"}, "a" * (MEGABYTE - 1)),
    "names": ({"patternProperties": {"^a*a*b$": {"type": "string"}}}, {"a" * (MEGABYTE - 1): "x"}),
    "alternatives": ({"anyOf": [{"pattern": "^a*a*b$"}, {"pattern": "^a*a*c$"}]}, "a" * (MEGABYTE - 1) + "b"),
    "boundary": ({"pattern": r"\ba|a[ab]*c"}, "x" + "a" * (MEGABYTE - 1)),
    "rounds": ({"pattern": r"(?:\b){999999}x"}, "a " * (MEGABYTE // 2)),
    "read_behind": ({"items": {"pattern": "(?<=[ab]{7}c)b"}}, ["b" * 90_000] * 11),
    "equal_hashes": ({"items": {"type": "integer"}, "uniqueItems": True}, [HUGE * n for n in range(1, MEGABYTE // 26)]),
}
"""By the name of the tool: what its argument `x` must be, and the worst `x`."""


def write_project(folder: Path) -> Path:
    """Write a server with a tool for each row."""
    folder.mkdir()
    (folder / "server.json").write_text('{"serverInfo": {"name": "patterns", "version": "1.0.0"}}')
    tools = [
        {
            "name": name,
            "description": "Takes what its schema accepts.",
            "inputSchema": {"type": "object", "properties": {"x": x}, "required": ["x"]},
            "_meta": {"mcpc/handler": {"inline": True}},
        }
        for name, (x, _) in ROWS.items()
    ]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    (folder / "tools.py").write_text("\n\n".join(f"def {name}(x):\n    return 'taken'\n" for name in ROWS))
    return folder


def call(name: str, identifier: int, meta: dict[str, Any] | None = None) -> bytes:
    """Return the call of a tool with its worst argument."""
    return b'{"jsonrpc": "2.0", "id": %d, %b' % (identifier, _rest(name, json.dumps(meta) if meta else ""))


@cache
def _rest(name: str, meta: str) -> bytes:
    """Return a call from behind its id, made once."""
    params: dict[str, Any] = {"name": name, "arguments": {"x": ROWS[name][1]}}
    if meta:
        params["_meta"] = json.loads(meta)
    return json.dumps({"method": "tools/call", "params": params}).encode()[1:]
