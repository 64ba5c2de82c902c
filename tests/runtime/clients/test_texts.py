"""What the editors make of files as people have them, and of random ones: with an entry and without it, and nothing else differs.

`TESTS_CLIENT_FILES=10000` tries so many random ones of each kind.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mcpc_runtime.tools.clients.json_text import JSON, MAX_ATTEMPTS, Reader, drop_items, put_item, read_text
from mcpc_runtime.tools.clients.text_edits import CannotEditError, Editor, EntryPlace, inline, line_indent, quoted
from mcpc_runtime.tools.clients.toml_text import TOML
from mcpc_runtime.tools.clients.yaml_text import YAML
from support import client_texts
from support.needs import ROOT

CASES = ROOT / "tests/golden/clients/texts.cases"
ENTRY: dict[str, Any] = {"command": "py", "args": ["a b", 'q"'], "env": {"K": "v"}, "enabled": True}
OWNED = frozenset(("command", "args", "env"))
PLACES = {
    "json": (JSON, EntryPlace((("mcpServers",), ("servers",), ("mcp", "servers")))),
    "toml": (TOML, EntryPlace((("mcp_servers",),))),
    "toml list": (TOML, EntryPlace((("mcp_servers",),), True)),
    "yaml": (YAML, EntryPlace((("extensions",),))),
    "yaml list": (YAML, EntryPlace((("mcpServers",),), True)),
}
ITEM = {"id": "w-key", "type": "promptString"}


def cases() -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the title and the text of each case; words at the end of a title say what a file cannot show."""
    for section in CASES.read_text("utf-8").split("## ")[1:]:
        title, _, text = section.partition("\n")
        words = title.split()
        text = text.removesuffix("\n") if "noeol" in words else text
        text = text.replace("\n", "\r\n") if "crlf" in words else text
        text = text.replace("<CR>", "\r").replace("<NEL>", "\x85")
        yield title.partition(":")[0], title, ("\ufeff" if "bom" in words else "") + text


def edits(kind: str) -> dict[str, Callable[[str], object]]:
    if kind == "items":
        return {
            "with the item": lambda text: put_item(text, "inputs", ITEM),
            "without items": lambda text: drop_items(text, "inputs", "w-"),
        }
    editor, place = PLACES[kind]
    entry = {"name": "w", **ENTRY} if place.is_list else ENTRY
    return {
        "read": lambda text: json.dumps(editor.read(text, place), default=str) + "\n",
        "with the entry": lambda text: editor.put(text, place, "w", entry, OWNED),
        "without it": lambda text: editor.drop(text, place, "w"),
    }


def outcome(edit: Callable[[str], object], text: str) -> str:
    """Return what an edit makes of a text, with marks for what cannot be seen."""
    try:
        new = str(edit(text))
    except CannotEditError as problem:
        return f"  refused: {str(problem).partition(': ')[0] if 'not TOML' in str(problem) else problem}\n"
    if new == text:
        return "  unchanged\n"
    shown = new.replace("\r", "␍").replace("\t", "→").replace("\ufeff", "<BOM>")
    return "".join(f"  |{line}\n" for line in shown.split("\n")) if new else "  empty\n"


def test_texts_are_edited_as_they_were(golden: Callable[[Path, str], None]) -> None:
    found: list[str] = []
    for kind, title, text in cases():
        found.append(f"{title}\n")
        found += (f" {name}\n{outcome(edit, text)}" for name, edit in edits(kind).items())
    golden(CASES.with_suffix(".edits"), "".join(found))


@pytest.mark.parametrize("kind", PLACES)
def test_an_entry_that_was_put_is_not_put_again(kind: str) -> None:
    editor, place = PLACES[kind]
    put = edits(kind)["with the entry"]
    for _, title, text in (case for case in cases() if case[0] == kind):
        try:
            new = str(put(text))
        except CannotEditError:
            continue
        assert put(new) == new, title
        assert editor.read(new, place)["w"]["command"] == "py", title


def test_what_is_nested_too_deeply_is_refused() -> None:
    for text in ('{"a": ' + "[" * 100_000, '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"):
        with pytest.raises(CannotEditError, match="nested"):
            read_text(text)


def test_what_is_not_about_servers_is_not_read_by_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    history = {f"/p/{number}": {"history": [{"n": each} for each in range(20)]} for number in range(50)}
    text = json.dumps({"projects": history, "mcpServers": {"a": {"command": "x"}}, "last": [1, [2, 3]]})
    read: list[int] = []
    element = Reader.element
    monkeypatch.setattr(Reader, "element", lambda self, at, kind: read.append(at) or element(self, at, kind))
    new = JSON.put(text, PLACES["json"][1], "w", ENTRY, OWNED)
    assert json.loads(new) == {**json.loads(text), "mcpServers": {"a": {"command": "x"}, "w": ENTRY}}
    assert len(read) == 3 + 1 + 3 + 2  # the members of both objects on the way, before and after


@pytest.mark.parametrize("value", ["NaN", "[Infinity]", '{"a": -Infinity}', "[01]", "[1.]", '["\t"]', "[1 2]"])
def test_what_only_pythons_scanner_reads_is_refused(value: str) -> None:
    for wrapped in (value, f"[{value}]", f"[{value}, // comment\n]"):
        with pytest.raises(CannotEditError, match="line 1: unexpected"):
            JSON.put(f'{{"other": {wrapped}, "mcpServers": {{}}}}', PLACES["json"][1], "w", ENTRY, OWNED)


@pytest.mark.parametrize("count", [MAX_ATTEMPTS - 1, MAX_ATTEMPTS, MAX_ATTEMPTS + 1])
def test_values_with_comments_are_passed_over_however_many_they_are(count: int) -> None:
    text = "{" + "".join(f'"{number}": [1, // a comment\n2],' for number in range(count)) + '"mcpServers": {"a": {}}}'
    assert JSON.read(text, PLACES["json"][1]) == {"a": {}}
    new = JSON.put(text, PLACES["json"][1], "w", ENTRY, OWNED)
    assert new.startswith(text.removesuffix("}}"))
    assert JSON.drop(new, PLACES["json"][1], "w") == text


def test_values_are_written_in_one_line() -> None:
    assert quoted('a"\\\u2028\uffff\U0001f600\U000e0001é') == '"a\\"\\\\\\u2028\\uffff\U0001f600\\U000e0001é"'
    assert inline({"yes": 1, "a b": None, "c": [True, 0.5, {}]}, ": ") == '{"yes": 1, "a b": null, c: [true, 0.5, {}]}'
    assert inline({"No": {}, "_a-1": {"b": ""}}, " = ") == '{ "No" = {}, _a-1 = { b = "" } }'
    assert [line_indent(text, len(text)) for text in ("\n  x", "\r \tx", "  x", "a\n")] == ["  ", " \t", "  ", ""]


COUNT = int(os.environ.get("TESTS_CLIENT_FILES", "60"))
CLIENT_EDITORS_ENTRY: dict[str, Any] = {
    "command": "/usr/bin/python3",
    "args": ["/a b/s.pyz", 'q"\\\u2028'],
    "env": {"KEY": "v"},
    "enabled": True,
}
NAMED: dict[str, Any] = {"name": "w", **CLIENT_EDITORS_ENTRY}
KINDS: dict[str, tuple[Editor, EntryPlace, Callable[[Random], str], Callable[[str], Any], dict[str, Any]]] = {
    "json": (
        JSON, EntryPlace((("mcpServers",),)), lambda random: client_texts.json_text(random, "mcpServers"),
        client_texts.read_json, CLIENT_EDITORS_ENTRY,
    ),
    "json with a dotted key": (
        JSON, EntryPlace((("amp.mcpServers",),)),
        lambda random: client_texts.json_text(random, "amp.mcpServers"),
        client_texts.read_json, CLIENT_EDITORS_ENTRY,
    ),
    "toml": (
        TOML, EntryPlace((("mcp_servers",),)), lambda random: client_texts.toml_text(random, "mcp_servers"),
        client_texts.read_toml, CLIENT_EDITORS_ENTRY,
    ),
    "list in toml": (
        TOML,
        EntryPlace((("mcp_servers",),), True),
        lambda random: client_texts.toml_text(random, "mcp_servers", is_list=True),
        client_texts.read_toml, NAMED,
    ),
    "yaml": (
        YAML, EntryPlace((("extensions",),)), lambda random: client_texts.yaml_text(random, "extensions"),
        client_texts.read_yaml, CLIENT_EDITORS_ENTRY,
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
