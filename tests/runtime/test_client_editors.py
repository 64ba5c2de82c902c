"""Editing of clients' files: on random ones, read before and after by other readers, nothing but the entry differs.

`TESTS_CLIENT_FILES=10000` tries so many of each kind.
"""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from mcpc_runtime.clients.json_text import JSON, drop_items, put_item
from mcpc_runtime.clients.text_edits import CannotEditError, EntryPlace
from mcpc_runtime.clients.toml_text import TOML
from mcpc_runtime.clients.yaml_text import YAML
from support import client_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.clients.text_edits import Editor

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
        JSON,
        EntryPlace((("mcpServers",),)),
        lambda random: client_texts.json_text(random, "mcpServers"),
        client_texts.read_json,
        ENTRY,
    ),
    "json with a dotted key": (
        JSON,
        EntryPlace((("amp.mcpServers",),)),
        lambda random: client_texts.json_text(random, "amp.mcpServers"),
        client_texts.read_json,
        ENTRY,
    ),
    "toml": (
        TOML,
        EntryPlace((("mcp_servers",),)),
        lambda random: client_texts.toml_text(random, "mcp_servers"),
        client_texts.read_toml,
        ENTRY,
    ),
    "list in toml": (
        TOML,
        EntryPlace((("mcp_servers",),), True),
        lambda random: client_texts.toml_text(random, "mcp_servers", is_list=True),
        client_texts.read_toml,
        NAMED,
    ),
    "yaml": (
        YAML,
        EntryPlace((("extensions",),)),
        lambda random: client_texts.yaml_text(random, "extensions"),
        client_texts.read_yaml,
        ENTRY,
    ),
    "list in yaml": (
        YAML,
        EntryPlace((("mcpServers",),), True),
        lambda random: client_texts.yaml_text(random, "mcpServers", is_list=True),
        client_texts.read_yaml,
        NAMED,
    ),
}


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


REFUSED = {
    "json": [
        "{",
        '{"a": 1',
        "[]",
        '"x"',
        "{'a': 1}",
        "{a: 1}",
        "{} {}",
        '{"a" 1}',
        "nonsense",
        '{"a": 1e}',
        "[" * 5000,
        '{"mcpServers": []}',
        '{"mcpServers": {"w": 1}}',
        "/* {",
        '{"mcpServers": null}',
        '{"a": "\\x"}',
    ],
    "toml": [
        "a = ",
        "[a",
        "mcp_servers = 1",
        "mcp_servers = {}",
        "a = 1\na = 2",
        '[mcp_servers]\nw = { command = "x" }',
    ],
    "yaml": [
        "\tx: 1",
        "- a",
        "extensions: [a",
        "a: 1\n---\nb: 1",
        "extensions: {a: {cmd: x}}",
        "%YAML 1.1\n---\na: 1",
        "extensions: &x\n  a: 1",
        "extensions:\n  - a",
        "text",
        "a: 'x",
        "a: 1\x85b: 2",
        "extensions:\n  w: {cmd: x}",
        "extensions: 1\nextensions: 2",
        "a:\n  b\n c: 1\nextensions: 1",
    ],
    "list in yaml": ["mcpServers:\n  a: 1", "mcpServers:\n- command: x", "mcpServers:\n- {name: w}"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in REFUSED.items() for text in texts])
def test_what_is_not_understood_is_refused(kind: str, text: str) -> None:
    editor, place, _, _, entry = KINDS[kind]
    with pytest.raises(CannotEditError):
        editor.put(text, place, "w", entry, OWNED)


ROUND_TRIPS = {
    "json": [
        '{\n  "a": 1,\n  "mcpServers": {\n    "o": {}\n  }\n}\n',
        '{\r\n\t"mcpServers": {\r\n\t\t"o": {}, // c\r\n\t},\r\n}',
        '{"mcpServers":{}}',
        '{"mcpServers": {"o": {}}}',
        '\ufeff{\n "mcpServers": {}\n}',
    ],
    "toml": ["", "a = 1\n", '[mcp_servers.o]\r\ncommand = "x"\r\n', "# c\n\n[a]\nb = 1\n"],
    "yaml": ["a: 1\nextensions:\n  o:\n    cmd: x\n\n# c\nb: 2\n", "extensions: {}\nb: 1\n"],
    "list in yaml": ["mcpServers:\n- name: o\nb: 1\n", "mcpServers: []\n"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in ROUND_TRIPS.items() for text in texts])
def test_a_text_is_the_same_after_both_edits(kind: str, text: str) -> None:
    editor, place, _, _, entry = KINDS[kind]
    assert editor.drop(editor.put(text, place, "w", entry, OWNED), place, "w") == text


def test_other_fields_and_comments_of_an_entry_stay() -> None:
    text = '{"mcpServers": {"w": {"command": "x", /* c */ "env": {"OLD": "1"}, "disabled": true}}}'
    place = EntryPlace((("mcpServers",),))
    new = JSON.put(
        text, place, "w", {"command": "y", "env": {"NEW": "2"}, "disabled": False}, frozenset(("command", "env"))
    )
    assert new == text.replace('"x"', '"y"').replace('"OLD": "1"', '"OLD": "1", "NEW": "2"')
    toml = '[mcp_servers.w]\ncommand = "x"   # c\nextra = 1\n\n[mcp_servers.w.env]\nOLD = "1"\n'
    edited = TOML.put(toml, EntryPlace((("mcp_servers",),)), "w", {"command": "y", "env": {"NEW": "2"}}, OWNED)
    assert edited == toml.replace('"x"', '"y"') + 'NEW = "2"\n'
    block = 'extensions:\n  w:\n    cmd: x\n    enabled: false # c\n    envs: {OLD: "1"}\n'
    fields = {"cmd": "y", "enabled": True, "envs": {"NEW": "2"}}
    assert YAML.put(block, EntryPlace((("extensions",),)), "w", fields, frozenset(("cmd", "envs"))) == block.replace(
        "cmd: x", 'cmd: "y"'
    ).replace('"1"}', '"1", NEW: "2"}')


def test_of_a_key_that_is_there_twice_the_last_one_counts() -> None:
    text = '{"mcpServers": {"a": {}}, "mcpServers": {"w": {"command": "1"}, "w": {"command": "2"}}}'
    place = EntryPlace((("mcpServers",),))
    new = JSON.put(text, place, "w", {"command": "3"}, frozenset(("command",)))
    assert new == text.replace('"2"', '"3"')
    assert JSON.drop(new, place, "w") == '{"mcpServers": {"a": {}}, "mcpServers": {}}'


def test_the_first_wrapper_that_a_file_has_is_used() -> None:
    place = EntryPlace((("mcpServers",), ("servers",), ("mcp", "servers")))
    assert '"servers": {"w"' in JSON.put('{"servers": {}}', place, "w", {}, OWNED)
    assert '{"servers": {"o": {}, "w": {}}}' in JSON.put('{"mcp": {"servers": {"o": {}}}}', place, "w", {}, OWNED)


def test_questions_of_a_client_are_added_once_and_removed_when_nothing_refers_to_them() -> None:
    text = '{\n  "inputs": [\n    {"id": "other"}\n  ]\n}\n'
    new = put_item(put_item(text, "inputs", {"id": "w-key"}), "inputs", {"id": "w-key"})
    assert client_texts.read_json(new) == {"inputs": [{"id": "other"}, {"id": "w-key"}]}
    assert drop_items(new, "inputs", "w-") == text
    used = new.replace("{\n  ", '{\n  "x": "${input:w-key}",\n  ', 1)
    assert drop_items(used, "inputs", "w-") == used
