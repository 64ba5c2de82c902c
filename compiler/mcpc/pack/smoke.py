"""Smoke test: a built file is started once before it gets its name; a file that does not answer is not kept."""

from __future__ import annotations

import json
import sys
import zipfile
from typing import TYPE_CHECKING

from mcpc.pack.prologue import START
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 30
START_BY_PYTHON = (sys.executable, "-ISc", START)
START_ALONE: tuple[str, ...] = ()
"""How a self-contained file starts."""
BYTECODE = "__main__.pyc"
"""What another Python starts; self-contained files with a minimal library do without."""
CLIENT = {"name": "mcpc build", "version": "1"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
REQUESTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}),
    ("server/discover", {"_meta": META}),
    ("ping", {}),
)


def start_of(path: Path) -> tuple[str, ...]:
    """Return how a built file starts: with this Python as its own prologue would; alone if no other can start it."""
    with zipfile.ZipFile(path) as archive:
        return START_BY_PYTHON if BYTECODE in archive.NameToInfo else START_ALONE


class SmokeError(Exception):
    """The built file does not serve; the message describes what it did instead."""


def smoke(path: Path, start: tuple[str, ...] = START_BY_PYTHON) -> None:
    """Start the file in an empty folder, with an empty environment; raise SmokeError unless it answers correctly.

    `start`: the words before the file's name.
    """
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(REQUESTS)
    ]
    argv = [*start, str(path.resolve())]
    # A file that unpacks its interpreter does so below the empty folder, which is removed.
    cache = {} if start or sys.platform == "win32" else {"MCPC_RUNTIME_CACHE": "unpacked"}
    try:
        done = programs.run_program(
            "built file", argv, SECONDS, more={"PATH": "/usr/bin:/bin", **cache}, told="\n".join(lines).encode()
        )
    except TimeoutError:
        raise SmokeError(f"no answer in {SECONDS} seconds") from None
    replies = done.stdout.splitlines()
    if done.returncode or len(replies) != len(REQUESTS):
        said = done.stderr.decode(errors="replace").strip() or "nothing"
        raise SmokeError(f"exit status {done.returncode} after {len(replies)} answers; output: {said}")
    for (method, _), reply in zip(REQUESTS, replies, strict=True):
        if not is_result(reply):
            raise SmokeError(f"unexpected answer to {method}: {reply.decode(errors='replace')}")


def is_result(line: bytes) -> bool:
    """Tell whether a line is a response with a result."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and "result" in message
