"""The conversation that every real client holds with examples/files, and what must come of it.

A client's test brings a transcript: what its client made of the answers, in the words of this module.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
INVALID_PARAMS = -32602
CONTENTS = b"one\ntwo\n\x00\xff"
FILE = "some file.txt"

CALLS: dict[str, tuple[str, dict[str, str]]] = {
    "size": ("file_size", {"path": FILE}),
    "hash": ("file_hash", {"path": FILE}),
    "md5": ("file_hash", {"path": FILE, "algorithm": "md5"}),
    "rejected": ("file_hash", {"path": FILE, "algorithm": "crc32"}),
    "failed": ("file_size", {"path": "missing.txt"}),
}
SUCCEEDING = {
    "size": {"path": FILE, "size": len(CONTENTS)},
    "hash": {"path": FILE, "hash": hashlib.sha256(CONTENTS).hexdigest(), "algorithm": "sha256"},
    "md5": {"path": FILE, "hash": hashlib.md5(CONTENTS).hexdigest(), "algorithm": "md5"},
}
UNKNOWN_TOOL = "no_such_tool"
PROMPTS: dict[str, tuple[str, dict[str, str]]] = {
    "review": ("code-review", {}),
    "summary": ("summarize-file", {"path": FILE}),
}
INCOMPLETE_PROMPT = "summarize-file"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client starts the server: the command, a folder with a file in it, and an environment."""

    command: tuple[str, ...]
    folder: Path
    environment: dict[str, str]


def place(server: Path, folder: Path) -> Place:
    """Return a place where the conversation can be held: the artifact's first lines find the Python of this test."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return place_of_command([str(server)], folder, {**os.environ, "PATH": path})


def place_of_command(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Place:
    """Return a place where the conversation can be held with a server that a command starts."""
    (folder / FILE).write_bytes(CONTENTS)
    return Place(tuple(command), folder, environment)


def check(transcript: dict[str, Any], version: str) -> None:
    """Assert that a client understood every answer."""
    assert transcript["server"] == {"name": "files", "version": "1.0.0"}
    assert transcript["protocol"] == version
    assert transcript["instructions"].startswith("Tells the size")
    assert transcript["tools"] == ["file_size", "file_hash"]
    assert transcript["prompts"] == ["code-review", "summarize-file"]
    check_calls(transcript)
    assert transcript["unknown_tool"] == INVALID_PARAMS
    assert transcript["review"].startswith("Review this code.")
    assert FILE in transcript["summary"]
    assert transcript["incomplete_prompt"] == INVALID_PARAMS


def check_calls(transcript: dict[str, Any]) -> None:
    """Assert that tools answered with their values, and that refusals and failures can be read by the model."""
    for name, value in SUCCEEDING.items():
        assert transcript[name]["structured"] == value, name
        assert not transcript[name]["is_error"], name
    for name, word in (("rejected", "algorithm"), ("failed", "missing.txt")):
        assert transcript[name]["is_error"], name
        assert word in transcript[name]["text"], name
