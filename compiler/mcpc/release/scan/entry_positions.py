"""Where an entry of a server is in a client's file, and where a value is in the entry.

JSON is read by its grammar.  In TOML and YAML the line is found by the names of the server and of the field.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.release.scan.model import Position
from mcpc_runtime.tools.clients.json_text import chosen_keys, member_at, read_text
from mcpc_runtime.tools.clients.text_edits import CannotEditError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc_runtime.tools.clients.json_text import Element, Node
    from mcpc_runtime.tools.clients.text_edits import EntryPlace

JSON = "json"


def entry_position(path: str, text: str, form: str, place: EntryPlace, keys: Sequence[str]) -> Position:
    """Return the position of a value; `keys`: the server's name, then those that lead to the value in its entry."""
    try:
        start, end = _in_json(text, place, keys) if form == JSON else _by_line(text, keys)
    except CannotEditError:
        start = end = 0
    return Position(path, *_line_and_column(text, start), *_line_and_column(text, end))


def _in_json(text: str, place: EntryPlace, keys: Sequence[str]) -> tuple[int, int]:
    """Return the range of the key of a value, or of the item of a list; of what there is of the way."""
    root = read_text(text)
    node = member_at(root, chosen_keys(root, place))
    found = 0, 0
    for key in keys:
        element = _element(node, key)
        if element is None:
            break
        found = element.start, element.start + len(_key_text(text, element))
        node = element.node
    return found


def _element(node: Node | None, key: str) -> Element | None:
    if node is None:
        return None
    if node.kind == "[":
        return node.elements[int(key)] if key.isdecimal() and int(key) < len(node.elements) else None
    return node.find(key)


def _key_text(text: str, element: Element) -> str:
    end = element.node.end if not element.key else text.find(":", element.start, element.node.start)
    return text[element.start : end].rstrip()


def _by_line(text: str, keys: Sequence[str]) -> tuple[int, int]:
    """Return the range of the line that names the last key after the line that names the server."""
    at, found = 0, (0, 0)
    for key in keys:
        if key.isdecimal():
            continue
        line = _naming(key).search(text, at)
        if line is None:
            break
        at = line.end()
        found = line.start(1), line.end(1)
    return found


def _naming(key: str) -> re.Pattern[str]:
    name = f"[\"']?{re.escape(key)}[\"']?"
    return re.compile(
        rf"^[ \t]{{0,80}}(?:-[ \t]{{1,8}})?((?:\[[^\n\]]{{0,200}}\.)?{name}(?:[ \t]{{0,8}}[:=]|\])"
        rf"|name[ \t]{{0,8}}[:=][ \t]{{0,8}}{name}[ \t\r]{{0,8}}$)",
        re.MULTILINE,
    )


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
