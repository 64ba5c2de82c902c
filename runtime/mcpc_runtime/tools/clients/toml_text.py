"""Edit TOML: a new entry is a table at the end; of an existing one single lines are replaced.

`tomllib` reads the text before and after: everything but the entry has to be equal.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

from mcpc_runtime.tools.clients.text_edits import (
    BYTE_ORDER_MARK,
    CannotEditError,
    Editor,
    Entry,
    EntryPlace,
    Splice,
    inline,
    key_text,
    line_end,
    splice,
)

Path = tuple[str | int, ...]


# Strings of four kinds, comments, line ends, brackets, and runs of anything else; a single character at last.
TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|\n|[\[{]|[\]}]|[^"\'#\n\[\]{}]+|.',
    re.DOTALL,
)
HEADER, PAIR, OTHER = "[", "=", ""
PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
MAX_PARTS = 100
LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*{PART}(?:[ \t]*\.[ \t]*{PART}){{{MAX_PARTS}}}")
ASSIGN = " = "


class Line(NamedTuple):
    """A statement or comment: a line, or several for a value with line ends; `content` is where its comment begins."""

    start: int
    content: int
    end: int
    kind: str
    table: Path
    """The table that it begins, or is in: its keys, with the number of the item for a list of tables."""


def has_long_key(text: str) -> bool:
    """Tell whether a key has more than MAX_PARTS parts: `tomllib` takes time by the square of their number."""
    # Counting dots is fast, and the expression is tried only on lines that have enough of them.
    return any(line.count(".") >= MAX_PARTS and LONG_KEY.search(line) for line in text.split("\n"))


def read_text(text: str) -> dict[str, Any]:
    """Return what a text says."""
    if has_long_key(text):
        raise CannotEditError(f"a key of it has more than {MAX_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise CannotEditError(f"it is not TOML: {problem}") from None


def read_lines(text: str) -> list[Line]:
    """Return the statements and comments of a text that `tomllib` has read."""
    lines: list[Line] = []
    counts: dict[Path, int] = {}
    table: Path = ()
    start = depth = 0
    content = -1
    for match in TOKEN.finditer(text + "\n"):
        token = match[0]
        # A bracket in a string or a comment is part of a longer token.
        depth += (token in "[{") - (token in "]}") if len(token) == 1 else 0
        if token.startswith("#") and not depth:
            content = match.start()
        if token != "\n" or depth:
            continue
        content = content if content >= 0 else min(match.start(), len(text))
        statement = text[start:content].strip(f" \t\r{BYTE_ORDER_MARK}")
        kind = (HEADER if statement.startswith("[") else PAIR) if statement else OTHER
        if kind == HEADER:
            table = table_path(statement, counts)
        lines.append(Line(start, content, min(match.end(), len(text)), kind, table))
        start, content = match.end(), -1
    return [line for line in lines if line.start < line.end]


def table_path(header: str, counts: dict[Path, int]) -> Path:
    """Return the keys of a header, with the numbers of items; `counts`: items so far of each list of tables."""
    # A header is a document by itself, so `tomllib` reads its keys.
    node: Any = tomllib.loads(header)
    path: Path = ()
    while node:
        (key,) = node
        path = (*path, key)
        node = node[key]
        if isinstance(node, list):
            counts[path] = counts.get(path, -1) + 1
            return (*path, counts[path])
        # A table within the last item of a list.
        if path in counts and node:
            path = (*path, counts[path])
    return path


def entries_at(value: dict[str, Any], place: EntryPlace) -> Any:
    """Return the entries: a table of tables, or a list of tables."""
    (key,) = place.keys[0]
    return value.get(key)


def read_entries(text: str, place: EntryPlace) -> dict[str, Entry]:
    """Return the entries by their names."""
    entries = entries_at(read_text(text), place)
    if place.is_list:
        rows = entries if isinstance(entries, list) else []
        return {entry["name"]: entry for entry in rows if isinstance(entry, dict) and type(entry.get("name")) is str}
    return {name: each for name, each in entries.items() if isinstance(each, dict)} if isinstance(entries, dict) else {}


def put_entry(text: str, place: EntryPlace, name: str, entry: Entry, owned: frozenset[str]) -> str:
    """Return a text with an entry."""
    existing = read_entries(text, place).get(name)
    if existing is None:
        return checked(text, appended(text, place, name, entry), place, name)
    table = table_of(text, place, name)
    new = text
    for field, value in entry.items():
        if field in owned and existing.get(field) != value:
            new = set_field(new, table, field, value)
    return checked(text, new, place, name)


def appended(text: str, place: EntryPlace, name: str, entry: Entry) -> str:
    """Return a text with a table at its end."""
    end = line_end(text)
    keys = ".".join(map(key_text, (*place.keys[0], *(() if place.is_list else (name,)))))
    rows = [f"[[{keys}]]" if place.is_list else f"[{keys}]"]
    rows += [f"{key_text(field)}{ASSIGN}{inline(value, ASSIGN)}" for field, value in entry.items()]
    separator = "" if not text.strip(BYTE_ORDER_MARK) else (end if text.endswith("\n") else end * 2)
    return text + separator + "".join(f"{row}{end}" for row in rows)


def table_of(text: str, place: EntryPlace, name: str) -> Path:
    """Return the path of an entry's table."""
    if not place.is_list:
        return (*place.keys[0], name)
    entries = entries_at(read_text(text), place)
    number = max(number for number, each in enumerate(entries) if isinstance(each, dict) and each.get("name") == name)
    return (*place.keys[0], number)


def set_field(text: str, table: Path, field: str, value: object) -> str:
    """Return a text in which a table has a field: its line is replaced, or one is added."""
    lines = read_lines(text)
    if isinstance(value, dict) and any(line.kind == HEADER and line.table == (*table, field) for line in lines):
        for key, each in value.items():
            text = set_field(text, (*table, field), key, each)
        return text
    end = line_end(text)
    statement = f"{key_text(field)}{ASSIGN}{inline(value, ASSIGN)}"
    within = [line for line in lines if line.table == table and line.kind != OTHER]
    if not within:
        raise CannotEditError(f"the entry is not a table of its own: set `{statement}` by hand")
    for line in within:
        if line.kind == PAIR and field in tomllib.loads(text[line.start : line.end]):
            return splice(text, [replaced(text, line, statement, end)])
    last = within[-1]
    separator = "" if text[last.start : last.end].endswith("\n") else end
    return splice(text, [(last.end, last.end, f"{separator}{statement}{end}")])


def replaced(text: str, line: Line, statement: str, end: str) -> Splice:
    """Return the change of a line to a statement; its comment stays."""
    value = text[line.start : line.content]
    indent = value[: len(value) - len(value.lstrip(" \t"))]
    blanks = value[len(value.rstrip()) :] if line.content < line.end and text[line.content] == "#" else ""
    start = line.start + len(indent)
    # In a file with CRLF the carriage return is part of the line's content.
    return (start, line.content, statement + (blanks or ("\r" if end == "\r\n" else "")))


def drop_entry(text: str, place: EntryPlace, name: str) -> str:
    """Return a text without the tables of an entry, and without an empty line before them."""
    if name not in read_entries(text, place):
        return text
    table = table_of(text, place, name)
    lines = read_lines(text)
    within = [index for index, line in enumerate(lines) if line.table[: len(table)] == table]
    removed: list[Splice] = []
    for first in (index for index in within if lines[index].kind == HEADER):
        last = max(index for index in within if lines[index].table == lines[first].table and lines[index].kind != OTHER)
        start, end = lines[first].start, lines[last].end
        before = text[:start].endswith(("\n\n", "\n\r\n")) and not text[end:].split("\n", 1)[0].strip()
        start -= len(line_end(text)) if before else 0
        removed.append((start, end, ""))
    return checked(text, splice(text, removed), place, name)


def checked(old: str, new: str, place: EntryPlace, name: str) -> str:
    """Return the new text if it differs from the old one in the entry only."""
    if without_entry(read_text(old), place, name) != without_entry(read_text(new), place, name):
        raise CannotEditError("it cannot be edited without a change of something else")
    return new


def without_entry(value: dict[str, Any], place: EntryPlace, name: str) -> str:
    """Return what a text says without an entry, and without an empty place for it, in a form that compares NaN."""
    (key,) = place.keys[0]
    entries = value.get(key)
    if place.is_list and isinstance(entries, list):
        value[key] = [each for each in entries if not isinstance(each, dict) or each.get("name") != name]
    elif isinstance(entries, dict):
        entries.pop(name, None)
    if not value.get(key, True):
        value.pop(key)
    return repr(value)


TOML = Editor(read_entries, put_entry, drop_entry)
