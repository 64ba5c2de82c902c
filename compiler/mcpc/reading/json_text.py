"""Parse JSON (RFC 8259, strictly) into a tree with positions, and report all mistakes at once.

The parser is a loop over states (`Expected`), each with a function that reads one token and returns the next state;
open brackets are kept on an explicit stack, so that no nesting exhausts Python's stack. O(length of the text).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose
from mcpc.reading.json_mistakes import Expected, MistakeContext, mistake_at, quoted_text
from mcpc.reading.json_scanner import (
    AFTER_VALUE,
    COLON,
    LITERALS,
    PLAIN_KEY,
    SPACE,
    STRING,
    VALUE,
    JsonError,
    integer_value,
    number_value,
    string_value,
)
from mcpc.reading.json_tree import Json, Member, Node
from mcpc.reading.source import BYTE_ORDER_MARK, judge_encoding

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.reading.source import Source

MAX_DEPTH = 512
MAX_VALUES = 500_000
"""A value costs about 5 microseconds and 500 bytes; ten thousand tools are half of this."""
MAX_PROBLEMS = 50
"""Maximum number of problems reported per file."""

KEYS = (Expected.KEY, Expected.FIRST_KEY)
SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(source: Source) -> tuple[Node | None, Diagnostics]:
    """Return the value in `source` and all problems; None if the intended value is unclear."""
    problems, is_text = judge_encoding(source)
    if not is_text:
        return None, problems
    # Wrong bytes are reported already: here they are replaced, so that no string contains them.
    text = SURROGATE.sub("\ufffd", source.text)
    reader = _Reader(source, text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
    root = reader.read()
    return root, (*problems, *reader.problems)


class _Container:
    """An array or an object that is still open.

    `key` waits for its value; `first` has the position where each key of an object occurs first.
    """

    __slots__ = ("closer", "first", "is_array", "items", "key", "members", "start")

    def __init__(self, start: int, is_array: bool) -> None:
        self.start = start
        self.is_array = is_array
        self.closer = "]" if is_array else "}"
        self.items: list[Node] = []
        self.members: list[Member] = []
        self.first: dict[str, int] = {}
        self.key = ("", 0, 0)


class _Reader:
    """The state of parsing one text: everything before `at` has been read."""

    def __init__(self, source: Source, text: str, at: int) -> None:
        self.source = source
        self.text = text
        self.at = at
        self.comma = -1
        self.open: list[_Container] = []
        self.problems: list[Diagnostic] = []
        self.root: Node | None = None
        self.is_lost = False
        self.values = 0

    def read(self) -> Node | None:
        """Read the whole text."""
        expect = Expected.VALUE
        while expect is not Expected.NOTHING:
            expect = STEPS[expect](self)
        return None if self.is_lost else self.root

    def value(self, expect: Expected = Expected.VALUE) -> Expected:
        """Read a scalar or an opening bracket."""
        match = VALUE.match(self.text, self.at)
        if match is None:
            return self.mistake(expect)
        kind = match.lastgroup or ""
        start, end = match.span(kind)
        self.values += 1
        if self.values > MAX_VALUES:
            self.report(JsonError(start, end, f"the file holds more than {MAX_VALUES} values", code="MCP008"))
            self.is_lost = True
            return Expected.NOTHING
        if kind == "open":
            return self.enter(start)
        self.at = end
        value: Json
        # Most strings have no escape, so their value is a slice.
        if kind == "plain":
            value = self.text[start + 1 : end - 1]
        else:
            value, flaws = SCALARS[kind](self.text, start, end)
            for flaw in flaws:
                self.report(flaw)
        return self.add(Node(value, self.source.path, start, end))

    def enter(self, start: int) -> Expected:
        """Begin an array or an object."""
        self.at = start + 1
        # The file ends with brackets open then, and so without a tree.
        if len(self.open) == MAX_DEPTH:
            message = f"brackets are nested more than {MAX_DEPTH} deep"
            self.report(JsonError(start, start + 1, message, code="MCP008"))
            return Expected.NOTHING
        is_array = self.text[start] == "["
        self.open.append(_Container(start, is_array))
        return Expected.ITEM if is_array else Expected.FIRST_KEY

    def add(self, node: Node) -> Expected:
        """Add a complete value to the innermost open array or object."""
        if not self.open:
            self.root = node
            return Expected.END
        holder = self.open[-1]
        if holder.is_array:
            holder.items.append(node)
        else:
            holder.members.append(Member(*holder.key, node))
        return Expected.AFTER

    def first(self) -> Expected:
        """Read the first value of an array, the first key of an object, or the end of either."""
        match = AFTER_VALUE.match(self.text, self.at)
        holder = self.open[-1]
        if match and match[1] == holder.closer:
            return self.leave(match.end())
        return self.value(Expected.ITEM) if holder.is_array else self.key(Expected.FIRST_KEY)

    def key(self, expect: Expected = Expected.KEY) -> Expected:
        """Read a key, and the colon after it in the common case."""
        match = PLAIN_KEY.match(self.text, self.at)
        if match:
            start, end = match.span(1)
            self.name(self.text[start + 1 : end - 1], start, end)
            self.at = match.end()
            return Expected.VALUE
        match = STRING.match(self.text, self.at)
        if match is None:
            return self.mistake(expect)
        key, flaws = string_value(self.text, *match.span(1))
        for flaw in flaws:
            self.report(flaw)
        self.name(key, *match.span(1))
        return Expected.COLON

    def name(self, key: str, start: int, end: int) -> None:
        """Store the key of the next value; report a duplicate key."""
        self.at = end
        holder = self.open[-1]
        holder.key = (key, start, end)
        first = holder.first.setdefault(key, start)
        if first != start:
            hint = f"the first one is on line {self.source.position(first)[0]}, and only the last would count"
            self.report(JsonError(start, end, f"duplicate key `{quoted_text(key)}`", hint=hint, code="MCP003"))

    def colon(self) -> Expected:
        """Read a colon that did not directly follow a plain key."""
        match = COLON.match(self.text, self.at)
        if match is None:
            return self.mistake(Expected.COLON)
        self.at = match.end()
        return Expected.VALUE

    def after(self) -> Expected:
        """Read what follows a value: a comma, or the end of the array or object around it."""
        match = AFTER_VALUE.match(self.text, self.at)
        holder = self.open[-1]
        if match and match[1] == ",":
            self.comma = match.start(1)
            self.at = match.end()
            return Expected.VALUE if holder.is_array else Expected.KEY
        if match and match[1] == holder.closer:
            return self.leave(match.end())
        return self.mistake(Expected.AFTER)

    def leave(self, end: int) -> Expected:
        """End the innermost array or object."""
        self.at = end
        holder = self.open.pop()
        if holder.is_array:
            items = [item.value for item in holder.items]
            return self.add(Node(items, self.source.path, holder.start, end, items=tuple(holder.items)))
        value = {member.key: member.node.value for member in holder.members}
        return self.add(Node(value, self.source.path, holder.start, end, members=tuple(holder.members)))

    def end(self) -> Expected:
        """Read the end of the text."""
        is_end = SPACE.fullmatch(self.text, self.at)
        return Expected.NOTHING if is_end else self.mistake(Expected.END)

    def mistake(self, expect: Expected) -> Expected:
        """Report unexpected text, and continue as if the intended text were there."""
        if len(self.problems) == MAX_PROBLEMS:
            return Expected.NOTHING
        space = SPACE.match(self.text, self.at)
        at = space.end() if space else self.at
        holder = (self.open[-1].start, self.open[-1].closer) if self.open else (-1, "")
        mistake = mistake_at(MistakeContext(self.source, self.text, at, expect, self.at, self.comma, *holder))
        self.report(mistake.flaw)
        self.is_lost |= mistake.is_loss
        if mistake.meant is None:
            self.at = mistake.resume
            return mistake.then
        if expect in KEYS:
            self.name(str(mistake.meant.value), at, mistake.resume)
            return Expected.COLON
        self.at = mistake.resume
        return self.add(Node(mistake.meant.value, self.source.path, at, mistake.resume))

    def report(self, flaw: JsonError) -> None:
        """Add a problem; the last one within the limit states that there may be more."""
        if len(self.problems) == MAX_PROBLEMS:
            return
        if len(self.problems) == MAX_PROBLEMS - 1:
            flaw = JsonError(flaw.start, flaw.end, "too many problems; the rest of the file was not judged")
        span = Span(self.source.path, flaw.start, flaw.end)
        self.problems.append(diagnose(flaw.code, span, flaw.message, flaw.expected, flaw.hint))


STEPS: dict[Expected, Callable[[_Reader], Expected]] = {
    Expected.VALUE: _Reader.value,
    Expected.ITEM: _Reader.first,
    Expected.KEY: _Reader.key,
    Expected.FIRST_KEY: _Reader.first,
    Expected.COLON: _Reader.colon,
    Expected.AFTER: _Reader.after,
    Expected.END: _Reader.end,
}


def _word_value(text: str, start: int, end: int) -> tuple[bool | None, list[JsonError]]:
    return LITERALS[text[start:end]], []


SCALARS: dict[str, Callable[[str, int, int], tuple[Json, list[JsonError]]]] = {
    "string": string_value,
    "integer": integer_value,
    "number": number_value,
    "word": _word_value,
}
