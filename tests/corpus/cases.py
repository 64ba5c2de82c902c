"""The corpus: what clients of each revision say, good and bad, and of what kind the answer is.

A row of messages.json says what a request has of its own; the envelope is made here, for each revision its own.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
STATELESS = REVISIONS[-1]
CORPUS: dict[str, Any] = json.loads((Path(__file__).parent / "messages.json").read_text(encoding="utf-8"))
ANSWERS: dict[str, Any] = CORPUS["answers"]
"""What the client answers to each question of the server."""
CAPABILITIES: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {"listChanged": True}}
CLIENT = {"name": "corpus", "version": "1"}
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    data: bytes
    message: dict[str, Any] | None
    code: int | None
    """The error that answers it; None for a result."""
    notes: tuple[str, ...]
    is_bad: bool
    """Whether the message is outside its revision's schema."""


def cases(revision: str) -> list[Case]:
    rows = [row for row in CORPUS["messages"] if belongs(row, revision)]
    return [case(row, revision, number) for number, row in enumerate(rows, 1)]


def belongs(row: dict[str, Any], revision: str) -> bool:
    era = "stateless" if revision == STATELESS else "legacy"
    return row.get("era", era) == era and row.get("since", "") <= revision <= row.get("until", revision)


def case(row: dict[str, Any], revision: str, number: int) -> Case:
    code = row.get("code")
    if isinstance(code, dict):
        code = code["stateless" if revision == STATELESS else "legacy"]
    if "raw" in row:
        return Case(row["name"], row["raw"].encode(), None, code, (), True)
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": row["method"]}
    params = dict(row.get("params", {}))
    meta = {**envelope(revision, row.get("capabilities", CAPABILITIES)), **row.get("meta", {})}
    meta = {key: value for key, value in meta.items() if value is not None}
    if meta:
        params["_meta"] = meta
    if params:
        message["params"] = params
    is_bad = bool(row.get("bad") or row.get("extension") or row["method"].startswith(("no/", "tasks/", "skills/")))
    return Case(row["name"], encoded(message), message, code, tuple(row.get("notes", ())), is_bad)


def envelope(revision: str, capabilities: dict[str, Any]) -> dict[str, Any]:
    """Return what a request of the stateless era says of its client; nothing in the other."""
    if revision != STATELESS:
        return {}
    return {VERSION_KEY: revision, CAPABILITIES_KEY: capabilities, "io.modelcontextprotocol/clientInfo": CLIENT}


def encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


def initialize(revision: str) -> dict[str, Any]:
    params = {"protocolVersion": revision, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
    return {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params}


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
