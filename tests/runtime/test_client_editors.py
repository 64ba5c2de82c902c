"""Editing of clients' files: on random ones, read before and after by other readers, nothing but the entry differs.

`TESTS_CLIENT_FILES=10000` tries so many of each kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from mcpc_runtime.tools.clients.json_text import JSON
from mcpc_runtime.tools.clients.text_edits import CannotEditError, Editor, EntryPlace
from mcpc_runtime.tools.clients.toml_text import TOML
from mcpc_runtime.tools.clients.yaml_text import YAML
from support import client_texts

COUNT = int(os.environ.get("TESTS_CLIENT_FILES", "60"))
ENTRY: dict[str, Any] = {
    "command": "/usr/bin/python3",
    "args": ["/a b/s.pyz", 'q"\\\u2028'],
    "env": {"KEY": "v"},
    "enabled": True,
}
NAMED: dict[str, Any] = {"name": "w", **ENTRY}
OWNED = frozenset(("command", "args", "env"))
KINDS: dict[str, tuple[Editor, EntryPlace, Callable[[Random], str], Callable[[str], Any], dict[str, Any]]] = {
    "json": (
        JSON, EntryPlace((("mcpServers",),)), lambda random: client_texts.json_text(random, "mcpServers"),
        client_texts.read_json, ENTRY,
    ),
    "json with a dotted key": (
        JSON, EntryPlace((("amp.mcpServers",),)),
        lambda random: client_texts.json_text(random, "amp.mcpServers"),
        client_texts.read_json, ENTRY,
    ),
    "toml": (
        TOML, EntryPlace((("mcp_servers",),)), lambda random: client_texts.toml_text(random, "mcp_servers"),
        client_texts.read_toml, ENTRY,
    ),
    "list in toml": (
        TOML,
        EntryPlace((("mcp_servers",),), True),
        lambda random: client_texts.toml_text(random, "mcp_servers", is_list=True),
        client_texts.read_toml, NAMED,
    ),
    "yaml": (
        YAML, EntryPlace((("extensions",),)), lambda random: client_texts.yaml_text(random, "extensions"),
        client_texts.read_yaml, ENTRY,
    ),
    "list in yaml": (
        YAML,
        EntryPlace((("mcpServers",),), True),
        lambda random: client_texts.yaml_text(random, "mcpServers", is_list=True),
        client_texts.read_yaml, NAMED,
    ),
}  # fmt: skip


def entries(value: Any, place: EntryPlace) -> Any:
    for key in place.keys[0]:
        value = value.get(key) if isinstance(value, dict) else None
    if place.is_list:
        return {each["name"]: each for each in value or ()}
    return value or {}


def others(value: Any, place: EntryPlace) -> str:
    """Return what a file says besides the entry and an empty place for it, in a form that compares NaN."""
    kept = {name: each for name, each in entries(value, place).items() if name != "w"}
    rest = {key: each for key, each in value.items() if key != place.keys[0][0]}
    return repr((sorted(kept.items(), key=str), rest))


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_is_added_changed_and_removed_and_nothing_else_is(kind: str) -> None:
    editor, place, make, read, entry = KINDS[kind]
    refused = 0
    for seed in range(COUNT):
        text = make(Random(f"{kind} {seed}"))
        before = read(text)
        try:
            added = editor.put(text, place, "w", entry, OWNED)
        except CannotEditError:
            refused += 1
            continue
        where = f"seed {seed}:\n{text}\n=>\n{added}"
        after = read(added)
        assert others(after, place) == others(before, place), where
        assert entries(after, place)["w"] == entry, where
        assert comments(text) == comments(added), where
        assert editor.put(added, place, "w", entry, OWNED) == added, where
        changed = editor.put(added, place, "w", {**entry, "command": "other", "enabled": False}, OWNED)
        assert entries(read(changed), place)["w"] == {**entry, "command": "other"}, where
        assert others(read(changed), place) == others(before, place), where
        removed = editor.drop(changed, place, "w")
        assert others(read(removed), place) == others(before, place), f"{where}\n=>\n{removed}"
        assert "w" not in entries(read(removed), place), where
        assert comments(text) == comments(removed), where
    assert refused <= COUNT * ALLOWED.get(kind, 0), f"{refused} of {COUNT} refused"


ALLOWED = {"yaml": 0.1, "list in yaml": 0.1}
"""Of files that are read without a reader of their format some are refused."""


def comments(text: str) -> int:
    """Return how many comments a random file has: each has a `c` of its own."""
    return sum(text.count(mark) for mark in ("// ", "/* ", "# "))
