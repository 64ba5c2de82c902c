"""Where a cursor is in JSON and in TOML that may be unfinished: the path to it, and what is expected there.

Tokens are read to the cursor and no further than the end of the object around it. Mistakes are passed over: the readers
of `mcpc.reading` stop at a text that is not closed, while a key is completed below it all the same.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Step = str | int
# A text, which may be open at the end of its line; a mark; or all else up to white space, a mark or a quote.
JSON_TOKEN = re.compile(r'"(?:[^"\\\r\n]|\\.)*"?|[\[\]{},:]|[^\s\[\]{},:"]+')
# A header has a line by itself; a bracket elsewhere opens an array.
TOML_TOKEN = re.compile(
    r"(?P<header>^\[\[?)(?=[A-Za-z_][^\[\]\n,=]*\]\]?[ \t]*\r?$)"
    r'|"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\r\n]|\\.)*"?|\'[^\'\r\n]*\'?|#[^\n]*|\n|[\[\]{},=.]|[^\s\[\]{},=."\'#]+',
    re.MULTILINE,
)
PUNCTUATION = frozenset("[]{},:")
TOML_PUNCTUATION = frozenset("[]{},=.\n")
KEY_OF_LINE = re.compile(r"""^[ \t]*([\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*[=.]""", re.MULTILINE)
HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
MAX_KEYS = 1_000
"""At most so many tokens behind the cursor are looked at."""
MAX_CHARACTERS = 1_000_000
"""Behind so many characters of TOML nothing is proposed."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """`path` leads to the value, or to the object whose key is written (`is_key`).

    `start` and `end`: the token at the cursor, empty if there is none. `keys`: the other keys of that object.
    `has_colon`: a colon or equals sign follows the token. `may_be_key`: a value that may become an object with this
    key, as in YAML. `beside`: for each step of the path the texts of the members before it. `lead`: what has to stand
    before a new text, `tail` behind it. TOML: `header` is `[` or `[[` in one; `table`: how the headers of the
    tables in the current one begin, where one can be written.
    """

    path: tuple[Step, ...]
    is_key: bool
    start: int
    end: int
    keys: tuple[str, ...] = ()
    has_colon: bool = False
    may_be_key: bool = False
    beside: tuple[Mapping[str, str], ...] = ()
    lead: str = ""
    tail: str = ""
    table: str | None = None
    header: str = ""

    @property
    def key(self) -> Step | None:
        return self.path[-1] if self.path else None


@dataclass(slots=True)
class OpenValue:
    """An array or object that is open at a place: `key` of the current member, `index` of the current item.

    `scalars`: the texts of its members so far. YAML: `column` of a block, -1 between brackets; `is_implied`: a sequence
    whose dashes are below the key; `has_value`: the current member or item has begun.
    """

    is_array: bool
    key: str | None = None
    index: int = 0
    keys: list[str] = field(default_factory=list)
    has_colon: bool = False
    scalars: dict[str, str] = field(default_factory=dict)
    column: int = -1
    is_implied: bool = False
    has_value: bool = False

    @property
    def step(self) -> Step:
        """The step from this value to its current member or item."""
        return self.index if self.is_array else self.key or ""

    def begin_member(self) -> None:
        """Take over that a member begins."""
        self.key, self.has_colon, self.has_value = None, False, False

    def pass_comma(self) -> None:
        """Take over a comma."""
        self.begin_member()
        self.index += 1

    def pass_text(self, text: str) -> None:
        """Take over a text, which is a key or a value."""
        if self.is_array or self.has_colon:
            self.scalars[self.key or ""], self.has_value = text, True
        else:
            self.key = text
            self.keys.append(text)


def cursor_in(open_values: Sequence[OpenValue], start: int, end: int) -> Cursor:
    holder = open_values[-1] if open_values else None
    is_key = holder is not None and not holder.is_array and not holder.has_colon
    above = open_values[:-1] if is_key else open_values
    keys = tuple(holder.keys) if holder is not None and is_key else ()
    steps, beside = tuple(each.step for each in above), tuple(each.scalars for each in above)
    return Cursor(steps, is_key, start, end, keys, beside=beside)


def pass_token(open_values: list[OpenValue], token: str, text: str | None, colon: str) -> None:
    """Take over a token between brackets; `text`: what it says, if it is one."""
    holder = open_values[-1] if open_values else None
    if token in "[{":
        open_values.append(OpenValue(token == "["))
    elif holder is None:
        return
    elif token in "]}":
        open_values.pop()
    elif token == ",":
        holder.pass_comma()
    elif token == colon:
        holder.has_colon = True
    elif text is not None and not holder.is_array:
        holder.pass_text(text)


def cursor_in_json(text: str, offset: int) -> Cursor:
    open_values: list[OpenValue] = []
    start = end = offset
    for token in JSON_TOKEN.finditer(text):
        is_text = token[0][0] == '"'
        # A word that ends at the cursor is still being written; a mark that ends there is not.
        if token.start() >= offset or (token.end() >= offset and token[0] not in PUNCTUATION):
            if token.start() < offset or (token.start() == offset and is_text):
                start, end = token.span()
            break
        pass_token(open_values, token[0], string_of(token[0]) if is_text else None, ":")
    cursor = cursor_in(open_values, start, end)
    keys = (*cursor.keys, *keys_behind(text, end)) if cursor.is_key else ()
    return replace(cursor, keys=keys, has_colon=text[end:].lstrip()[:1] == ":")


def keys_behind(text: str, place: int) -> list[str]:
    keys: list[str] = []
    depth, last = 0, ""
    for count, token in enumerate(JSON_TOKEN.finditer(text, place)):
        first = token[0][0]
        depth += (first in "[{") - (first in "]}")
        # Below zero: the object around the cursor has ended.
        if depth < 0 or count > MAX_KEYS:
            break
        if depth == 0 and first == ":" and last:
            keys.append(string_of(last))
        last = token[0] if first not in PUNCTUATION and depth == 0 else ""
    return keys


def string_of(token: str) -> str:
    """Return the text of a string token, also of one that is not closed."""
    try:
        return str(json.loads(token if len(token) > 1 and token.endswith('"') else f'{token}"'))
    except ValueError:
        return token.strip('"')


@dataclass(slots=True)
class _TomlReading:
    """What is open at a place: `parts` of the key or header that is read, `lists`: names of lists of tables so far.

    `place`: `key`, `value`, `header`, or `end` behind one. `keys`: those of the current table. A table of a list has an
    index in its path, always 0.
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
        steps: list[Step] = []
        for number, part in enumerate(parts, 1):
            steps += [part, 0] if tuple(parts[:number]) in self.lists else [part]
        return tuple(steps)

    def take(self, token: str, is_header: bool) -> None:
        """Take over a token before the cursor; a header ends what is still open before it."""
        if is_header:
            self.open_values.clear()
            self.place, self.parts, self.is_list = "header", [], token == "[["
        elif self.open_values:
            is_text = token not in TOML_PUNCTUATION and token[0] != "#"
            pass_token(self.open_values, token, name_of(token) if is_text else None, "=")
        elif token == "\n":
            self.place, self.parts = "key", []
        elif self.place == "value":
            pass_token(self.open_values, token, None, "=")
        elif self.place != "end":
            self._take_name(token)

    def _take_name(self, token: str) -> None:
        """Take over a token of a key or a header."""
        in_header = self.place == "header"
        if token not in TOML_PUNCTUATION:
            self.parts.append(name_of(token))
        elif token == "[" and (in_header or not self.parts):
            self.place, self.is_list = "header", in_header
        elif token == "=" and not in_header:
            self.place = "value"
            # Of a dotted key only the first part is a member of this table.
            self.keys += self.parts[:1]
        elif token == "]" and in_header:
            if self.is_list:
                self.lists.add(tuple(self.parts))
            self.table, self.keys, self.place = self.steps_of(self.parts), [], "end"


def cursor_in_toml(text: str, offset: int) -> Cursor | None:
    """Return where a cursor is; None in a comment, behind a header, and in a file that is too large."""
    if offset > MAX_CHARACTERS:
        return None
    reading, start, end = _TomlReading(), offset, offset
    for token in TOML_TOKEN.finditer(text):
        is_text = token[0][0] not in TOML_PUNCTUATION
        if token.start() >= offset or (is_text and token.end() >= offset):
            if token.start() < offset or (token.start() == offset and token[0][0] in "\"'"):
                start, end = token.span()
            break
        reading.take(token[0], token["header"] is not None)
    if text[start : start + 1] == "#" and start < offset:
        return None
    return _at_place(text, start, end, reading)


def _at_place(text: str, start: int, end: int, reading: _TomlReading) -> Cursor | None:
    path = (*reading.table, *reading.parts)
    has_colon = text[end:].lstrip(" \t")[:1] == "="
    if reading.open_values:
        inner = cursor_in(reading.open_values, start, end)
        return replace(inner, path=(*path, *inner.path), beside=(), has_colon=has_colon)
    if reading.place == "header":
        header = "[[" if reading.is_list else "["
        rest = text[end:].split("\n", 1)[0].strip()
        # What is behind the cursor may be the closing brackets already.
        tail = "" if rest else header.replace("[", "]")
        return Cursor(reading.steps_of(reading.parts), True, start, end, header=header, tail=tail)
    if reading.place != "key":
        return Cursor(path, False, start, end) if reading.place == "value" else None
    keys = (*reading.keys, *_keys_below(text, end)) if not reading.parts else ()
    name = ".".join(toml_key(step) for step in reading.table if isinstance(step, str))
    table = None if reading.parts else f"{name}." if name else ""
    return Cursor(path, True, start, end, keys, has_colon, table=table)


def _keys_below(text: str, place: int) -> list[str]:
    """Return the keys of the current table in the lines after a place."""
    line = text.find("\n", place)
    if line < 0:
        return []
    header = HEADER.search(text, line)
    end = header.start() if header else len(text)
    return [name_of(match[1]) for match in KEY_OF_LINE.finditer(text, line + 1, end)]


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
