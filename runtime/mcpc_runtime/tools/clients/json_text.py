"""Edit JSON as people write it: with comments, trailing commas, a byte order mark, any indentation, and duplicate keys.

Of duplicate keys the last one counts, as in every reader.  What is edited was read by the grammar here, and the result
is read again and compared without the entry.  Files of clients have many megabytes that are not about servers: a value
is passed over by Python's own scanner, and read here only if it is asked for its elements or is not strict JSON.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from mcpc_runtime.tools.clients.text_edits import (
    BYTE_ORDER_MARK,
    CannotEditError,
    Editor,
    Entry,
    EntryPlace,
    Splice,
    indent_unit,
    line_end,
    line_indent,
    splice,
)

SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.])|(?:true|false|null)\b")
REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)?(?=\r?\n)")
OBJECT, ARRAY, ATOM = "{", "[", ""
CLOSING = {OBJECT: "}", ARRAY: "]"}


class Element(NamedTuple):
    """A member of an object, or an item of an array without a key; `comma` is where the comma after it is, or -1."""

    start: int
    key: str
    node: Node
    comma: int


class Node:
    """A value of a text; its elements are read when they are asked for."""

    def __init__(self, text: str, start: int, end: int, kind: str, elements: list[Element] | None = None) -> None:
        self._text = text
        self.start = start
        self.end = end
        self.kind = kind
        self._elements = elements

    @property
    def elements(self) -> list[Element]:
        """The members or items; a scalar has none."""
        if self._elements is None:
            self._elements = Reader(self._text).container(self.start, self.kind).elements if self.kind else []
        return self._elements

    def find(self, key: str) -> Element | None:
        """Return the member with a key: of several the last."""
        return next((element for element in reversed(self.elements) if element.key == key), None)


# The text before a change and the one after it are both asked for several times.
@lru_cache(maxsize=2)
def read_text(text: str) -> Node | None:
    """Return the value of a text; None if it has nothing but comments."""
    start = skip(text, text.startswith(BYTE_ORDER_MARK))
    if start == len(text):
        return None
    try:
        # The root is read by its members, whose values are passed over.
        is_object = text[start] == OBJECT
        root = Reader(text).container(start, OBJECT) if is_object else Reader(text).value(start)
    except RecursionError:
        raise CannotEditError("it is nested too deeply") from None
    end = skip(text, root.end)
    if end != len(text):
        raise unexpected(text, end)
    if root.kind != OBJECT:
        raise CannotEditError("it is not a JSON object")
    return root


def skip(text: str, at: int) -> int:
    """Return the place after blanks and comments."""
    space = SPACE.match(text, at)
    return space.end() if space else at


def unexpected(text: str, at: int) -> CannotEditError:
    """Return the error about what a text has at a place."""
    line = text.count("\n", 0, at) + 1
    return CannotEditError(f"line {line}: " + (f"unexpected {text[at : at + 10]!r}" if text[at:] else "it ends there"))


def not_json(constant: str) -> None:
    """Refuse what Python's scanner takes for a number."""
    raise ValueError(constant)


# Numbers stay texts: they are passed over, and converting long ones takes quadratic time.
STRICT = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=not_json)
MAX_ATTEMPTS = 20
"""How many values that are not strict JSON are tried in a text: each attempt may pass over all of it."""


class Reader:
    """Reads values of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._attempts = MAX_ATTEMPTS

    def value(self, at: int) -> Node:
        """Return the value at a place."""
        text = self._text
        kind = text[at : at + 1]
        if kind in CLOSING:
            if self._attempts:
                try:
                    return Node(text, at, STRICT.raw_decode(text, at)[1], kind)
                except ValueError:
                    # A container that is not strict is read by its elements, each of which may be strict.
                    self._attempts -= 1
            return self.container(at, kind)
        token = STRING.match(text, at) or SCALAR.match(text, at)
        if token is None:
            raise unexpected(text, at)
        return Node(text, at, token.end(), ATOM)

    def container(self, start: int, kind: str) -> Node:
        """Return the object or array at a place."""
        text = self._text
        elements: list[Element] = []
        at = skip(text, start + 1)
        while not text.startswith(CLOSING[kind], at):
            element = self.element(at, kind)
            elements.append(element)
            at = skip(text, element.comma + 1 if element.comma >= 0 else element.node.end)
            if element.comma < 0 and not text.startswith(CLOSING[kind], at):
                raise unexpected(text, at)
        return Node(text, start, at + 1, kind, elements)

    def element(self, start: int, kind: str) -> Element:
        """Return the member or item at a place."""
        text = self._text
        key, at = "", start
        if kind == OBJECT:
            token = STRING.match(text, start)
            colon = skip(text, token.end()) if token else start
            if token is None or not text.startswith(":", colon):
                raise unexpected(text, colon)
            key, at = json.loads(token[0]), skip(text, colon + 1)
        node = self.value(at)
        after = skip(text, node.end)
        return Element(start, key, node, after if text.startswith(",", after) else -1)


def value_of(text: str, node: Node) -> Any:
    """Return a value for Python."""
    try:
        return json.loads(text[node.start : node.end], parse_constant=not_json)
    except ValueError:  # it has comments, or trailing commas
        return value_by_elements(text, node)


def value_by_elements(text: str, node: Node) -> Any:
    """Return a value for Python, whose parts may be other than strict JSON."""
    if node.kind == OBJECT:
        return {element.key: value_of(text, element.node) for element in node.elements}
    if node.kind == ARRAY:
        return [value_of(text, element.node) for element in node.elements]
    return json.loads(text[node.start : node.end])


def model(text: str, node: Node | None, path: tuple[str, ...] = ()) -> Any:
    """Return the members of objects on a path, each with its text, without those at `path`, and objects emptied so."""
    if node is None:
        return (OBJECT, [])
    if node.kind == ATOM or not path:
        return text[node.start : node.end]
    rows = []
    for element in node.elements:
        rest = path[1:] if path and node.kind == OBJECT and element.key == path[0] else ()
        if path and element.key == path[0] and not rest:
            continue
        inner = model(text, element.node, rest)
        if not rest or inner != (OBJECT, []):
            rows.append((element.key, inner))
    return (node.kind, rows)


def member_at(root: Node | None, path: tuple[str, ...]) -> Node | None:
    """Return the value at a path of keys."""
    for key in path:
        element = root.find(key) if root is not None and root.kind == OBJECT else None
        root = element.node if element else None
    return root


def chosen_keys(root: Node | None, place: EntryPlace) -> tuple[str, ...]:
    """Return the keys that lead to the entries: the first choice that the text has, else the first."""
    return next((keys for keys in place.keys if member_at(root, keys) is not None), place.keys[0])


def read_entries(text: str, place: EntryPlace) -> dict[str, Entry]:
    """Return the entries that are objects."""
    root = read_text(text)
    entries = member_at(root, chosen_keys(root, place))
    members = value_of(text, entries) if entries is not None and entries.kind == OBJECT else {}
    return {name: entry for name, entry in members.items() if isinstance(entry, dict)}


def put_entry(text: str, place: EntryPlace, name: str, entry: Entry, owned: frozenset[str]) -> str:
    """Return a text with an entry."""
    root = read_text(text)
    path = (*chosen_keys(root, place), name)
    existing = member_at(root, path)
    if existing is None:
        return checked(text, set_member(text, path, entry), path)
    new = text
    for field, value in changed_fields(value_of(text, existing), entry, owned):
        new = set_member(new, (*path, *field), value)
    return checked(text, new, path)


def changed_fields(existing: Any, entry: Entry, owned: frozenset[str]) -> list[tuple[tuple[str, ...], object]]:
    """Return what an existing entry lacks, by path; members of objects that only it has stay."""
    if not isinstance(existing, dict):
        raise CannotEditError("its entry of this name is not an object")
    changes: list[tuple[tuple[str, ...], object]] = []
    for field, value in entry.items():
        before = existing.get(field)
        if field not in owned or before == value:
            continue
        if isinstance(before, dict) and isinstance(value, dict):
            changes += (((field, key), each) for key, each in value.items() if before.get(key) != each)
        else:
            changes.append(((field,), value))
    return changes


def drop_entry(text: str, place: EntryPlace, name: str) -> str:
    """Return a text without an entry, and without its duplicates."""
    path = (*chosen_keys(read_text(text), place), name)
    new = text
    while (parent := member_at(read_text(new), path[:-1])) is not None and parent.find(name) is not None:
        new = drop_element(new, parent, max(i for i, each in enumerate(parent.elements) if each.key == name))
    return checked(text, new, path)


def checked(old: str, new: str, path: tuple[str, ...]) -> str:
    """Return the new text if it differs from the old one in the member at `path` only."""
    if model(old, read_text(old), path) != model(new, read_text(new), path):
        raise CannotEditError("it cannot be edited without a change of something else")
    return new


def set_member(text: str, path: tuple[str, ...], value: object) -> str:
    """Return a text in which the value at a path of keys is this one; missing objects are made."""
    node = read_text(text)
    if node is None:
        return written_whole(text, path, value)
    for number, key in enumerate(path):
        if node.kind != OBJECT:
            raise CannotEditError(f"`{path[number - 1]}` is not an object")
        element = node.find(key)
        if element is None:
            return splice(text, added(text, node, key, nested(path[number + 1 :], value)))
        node = element.node
    return splice(text, [(node.start, node.end, rendered(text, value, line_indent(text, node.start)))])


def nested(path: tuple[str, ...], value: object) -> object:
    """Return a value within objects, one for each key of a path."""
    for key in reversed(path):
        value = {key: value}
    return value


def written_whole(text: str, path: tuple[str, ...], value: object) -> str:
    """Return a text that had comments at most, with an object behind them."""
    end = line_end(text)
    body = json.dumps(nested(path, value), indent=2, ensure_ascii=False).replace("\n", end)
    separator = end if text.strip(BYTE_ORDER_MARK + " \t\r\n") and not text.endswith("\n") else ""
    return f"{text}{separator}{body}{end}"


def rendered(text: str, value: object, indent: str, *, inline: bool = False) -> str:
    """Return a value in the style of a text; its first line is not indented."""
    if inline:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=indent_unit(text), ensure_ascii=False)
    return lines.replace("\n", line_end(text) + indent)


def own_line_start(text: str, at: int) -> int:
    """Return where the line end before a place is, if there are only blanks between; else -1."""
    before = text[:at].rstrip(" \t")
    if not before.endswith("\n"):
        return -1
    return len(before) - (2 if before.endswith("\r\n") else 1)


def added(text: str, node: Node, key: str, value: object) -> list[Splice]:
    """Return the changes that add an element at the end of a container; an empty key is that of an item."""

    def element(indent: str, *, inline: bool = False) -> str:
        label = json.dumps(key, ensure_ascii=False) + ": " if node.kind == OBJECT else ""
        return label + rendered(text, value, indent, inline=inline)

    end = line_end(text)
    if not node.elements:
        return added_first(text, node, element)
    last = node.elements[-1]
    # `comma` is -1 without a comma, which makes this 0, and the end of the element is taken.
    after = last.comma + 1 or last.node.end
    comma = "," if last.comma >= 0 else ""
    if own_line_start(text, last.start) < 0:
        return [(after, after, f"{'' if comma else ','} {element('', inline=True)}{comma}")]
    indent = line_indent(text, last.start)
    rest = REST_OF_LINE.match(text, after)
    at = rest.end() if rest else after
    separator = [] if comma else [(last.node.end, last.node.end, ",")]
    return [*separator, (at, at, f"{end}{indent}{element(indent)}{comma}")]


def added_first(text: str, node: Node, element: Any) -> list[Splice]:
    """Return the changes that add an element to an empty container."""
    end = line_end(text)
    inside = text[node.start + 1 : node.end - 1]
    if "\n" not in text.strip() and node.start != skip(text, text.startswith(BYTE_ORDER_MARK)) and not inside.strip():
        return [(node.start + 1, node.end - 1, element("", inline=True))]
    outer = line_indent(text, node.start)
    indent = outer + indent_unit(text)
    line = f"{end}{indent}{element(indent)}"
    if inside.strip():  # comments
        at = node.start + 1 + len(inside.rstrip())
        return [(at, at, line if "\n" in inside[len(inside.rstrip()) :] else f"{line}{end}{outer}")]
    return [(node.start + 1, node.end - 1, f"{line}{end}{outer}")]


def drop_element(text: str, node: Node, index: int) -> str:
    """Return a text without an element; comments outside it stay."""
    element = node.elements[index]
    end = element.comma + 1 or element.node.end
    if len(node.elements) == 1 and not (text[node.start + 1 : element.start] + text[end : node.end - 1]).strip():
        return splice(text, [(node.start + 1, node.end - 1, "")])
    start = own_line_start(text, element.start)
    is_inline = start < 0
    start = len(text[: element.start].rstrip(" \t")) if is_inline else start
    changes = [(start, element.node.end, "")]
    if element.comma >= 0:
        after = end + len(text[end:]) - len(text[end:].lstrip(" \t")) if is_inline and index == 0 else end
        changes.append((element.comma, after, ""))
    elif index:
        comma = node.elements[index - 1].comma
        changes.append((comma, comma + 1, ""))
    return splice(text, changes)


def put_item(text: str, key: str, item: Entry) -> str:
    """Return a text whose list at `key` has an item; one with the same `id` stays as it is."""
    root = read_text(text)
    items = member_at(root, (key,))
    if items is None:
        return set_member(text, (key,), [item])
    if items.kind != ARRAY:
        raise CannotEditError(f"`{key}` is not a list")
    if any(isinstance(each, dict) and each.get("id") == item["id"] for each in value_of(text, items)):
        return text
    new = splice(text, added(text, items, "", item))
    return checked(text, new, (key,))


def drop_items(text: str, key: str, prefix: str) -> str:
    """Return a text without the items whose `id` has a prefix and that nothing refers to."""
    while True:
        items = member_at(read_text(text), (key,))
        values = value_of(text, items) if items is not None and items.kind == ARRAY else []
        unused = [
            number
            for number, each in enumerate(values)
            if isinstance(each, dict)
            and str(each.get("id", "")).startswith(prefix)
            and f"${{input:{each['id']}}}" not in text
        ]
        if items is None or not unused:
            return text
        text = checked(text, drop_element(text, items, unused[-1]), (key,))


JSON = Editor(read_entries, put_entry, drop_entry)
