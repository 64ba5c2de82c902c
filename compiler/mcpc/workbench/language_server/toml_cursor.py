"""Where a cursor is in TOML that may be unfinished: the tables around it, and what is expected there.

Tokens are read to the cursor; mistakes are passed over. A table of a list has an index in its path, always 0.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.workbench.language_server.cursor import Cursor, OpenValue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.workbench.language_server.cursor import Step

TOKEN = re.compile(
    r"(?P<header>^\[\[?)(?=[A-Za-z_][^\[\]\n,=]*\]\]?[ \t]*\r?$)"
    r'|"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\r\n]|\\.)*"?|\'[^\'\r\n]*\'?|#[^\n]*|\n|[\[\]{},=.]|[^\s\[\]{},=."\'#]+',
    re.MULTILINE,
)
KEY_OF_LINE = re.compile(r"""^[ \t]*([\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*[=.]""", re.MULTILINE)
HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
PUNCTUATION = frozenset("[]{},=.\n")
MAX_CHARACTERS = 1_000_000


@dataclass(slots=True)
class _Reading:
    """What is open at a place: `parts` of the key or header that is read, `lists`: names of lists of tables so far.

    `place`: `key`, `value`, `header`, or `end` behind one. `keys`: those of the current table.
    """

    place: str = "key"
    table: tuple[Step, ...] = ()
    parts: list[str] = field(default_factory=list)
    is_list: bool = False
    open_values: list[OpenValue] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    lists: set[tuple[str, ...]] = field(default_factory=set)

    def steps_of(self, parts: Sequence[str]) -> tuple[Step, ...]:
        """Return the path of a table by its name."""
        found: list[Step] = []
        for number, part in enumerate(parts, 1):
            found += [part, 0] if tuple(parts[:number]) in self.lists else [part]
        return tuple(found)

    def take(self, token: str, is_header: bool) -> None:
        """Take over a token before the cursor; a header ends what is still open before it."""
        if is_header:
            self.open_values.clear()
            self.place, self.parts, self.is_list = "header", [], token == "[["
        elif self.open_values:
            _take_inside(self.open_values, token)
        elif token == "\n":
            self.place, self.parts = "key", []
        else:
            TAKES[self.place](self, token)


def _take_inside(open_values: list[OpenValue], token: str) -> None:
    """Take over a token of an array or of an inline table."""
    holder = open_values[-1]
    if token in "[{":
        open_values.append(OpenValue(token == "["))
    elif token in "]}":
        open_values.pop()
    elif token == ",":
        holder.index += 1
        holder.key, holder.has_colon = None, False
    elif token == "=":
        holder.has_colon = True
    elif token not in PUNCTUATION and not holder.is_array and not holder.has_colon and token[0] != "#":
        holder.key = name_of(token)
        holder.keys.append(holder.key)


def _take_key(reading: _Reading, token: str) -> None:
    if token == "[" and not reading.parts:
        reading.place, reading.is_list = "header", False
    elif token == "=":
        reading.place = "value"
        reading.keys += reading.parts[:1]
    elif token not in PUNCTUATION:
        reading.parts.append(name_of(token))


def _take_header(reading: _Reading, token: str) -> None:
    if token == "[":
        reading.is_list = True
    elif token == "]":
        if reading.is_list:
            reading.lists.add(tuple(reading.parts))
        reading.table, reading.keys, reading.place = reading.steps_of(reading.parts), [], "end"
    elif token not in PUNCTUATION:
        reading.parts.append(name_of(token))


def _take_value(reading: _Reading, token: str) -> None:
    if token in "[{":
        reading.open_values.append(OpenValue(token == "["))


TAKES: dict[str, Callable[[_Reading, str], None]] = {
    "key": _take_key,
    "header": _take_header,
    "value": _take_value,
    "end": lambda _reading, _token: None,
}
"""What a token means, by the place that is read."""


def cursor_in_toml(text: str, offset: int) -> Cursor | None:
    """Return where a cursor is; None in a comment, behind a header, and in a file that is too large."""
    if offset > MAX_CHARACTERS:
        return None
    reading, start, end = _Reading(), offset, offset
    for token in TOKEN.finditer(text):
        is_text = token[0][0] not in PUNCTUATION
        if token.start() >= offset or (is_text and token.end() >= offset):
            if token.start() < offset or (token.start() == offset and token[0][0] in "\"'"):
                start, end = token.span()
            break
        reading.take(token[0], token["header"] is not None)
    if text[start : start + 1] == "#" and start < offset:
        return None
    return _cursor(text, (start, end), reading)


def _cursor(text: str, span: tuple[int, int], reading: _Reading) -> Cursor | None:
    has_colon = text[span[1] :].lstrip(" \t")[:1] == "="
    if reading.open_values:
        return _inside(span, reading, has_colon)
    if reading.place == "header":
        header = "[[" if reading.is_list else "["
        rest = text[span[1] :].split("\n", 1)[0].strip()
        tail = "" if rest else header.replace("[", "]")
        return Cursor(reading.steps_of(reading.parts), True, *span, header=header, tail=tail)
    path = (*reading.table, *reading.parts)
    if reading.place == "value":
        return Cursor(path, False, *span)
    if reading.place == "end":
        return None
    keys = (*reading.keys, *_keys_below(text, span[1])) if not reading.parts else ()
    name = ".".join(toml_key(step) for step in reading.table if isinstance(step, str))
    table = None if reading.parts else f"{name}." if name else ""
    return Cursor(path, True, *span, keys, has_colon, table=table)


def _inside(span: tuple[int, int], reading: _Reading, has_colon: bool) -> Cursor:
    holder = reading.open_values[-1]
    is_key = not holder.is_array and not holder.has_colon
    above = reading.open_values[:-1] if is_key else reading.open_values
    path = (*reading.table, *reading.parts, *(each.step for each in above))
    return Cursor(path, is_key, *span, tuple(holder.keys) if is_key else (), has_colon)


def _keys_below(text: str, place: int) -> list[str]:
    """Return the keys of the current table in the lines after a place."""
    line = text.find("\n", place)
    if line < 0:
        return []
    header = HEADER.search(text, line)
    return [
        name_of(found[1]) for found in KEY_OF_LINE.finditer(text, line + 1, header.start() if header else len(text))
    ]


def name_of(token: str) -> str:
    """Return the name that a key or a part of a header says, also one that is not closed."""
    if token[0] != '"':
        return token.strip("'")
    try:
        return str(json.loads(token))
    except ValueError:
        return token.strip('"')


def toml_key(name: str) -> str:
    """Return a name as a key of TOML: bare where it can be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
