"""Read JSON (RFC 8259, strictly) into a tree of places, and say everything that is wrong with it at once.

The reader is a loop over states (`Expect`), each with a function that reads one token and names the next state; open
brackets lie on a stack of its own, so that no nesting can exhaust Python's.  Its time is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose
from mcpc.sources.encoding import BYTE_ORDER_MARK, judge_encoding
from mcpc.sources.json_mistakes import mistake_at
from mcpc.sources.json_places import Context, Expect, shown
from mcpc.sources.json_scanner import (
    AFTER_VALUE,
    COLON,
    PLAIN_KEY,
    SPACE,
    STRING,
    VALUE,
    WORDS,
    Flaw,
    integer_value,
    number_value,
    string_value,
)
from mcpc.sources.json_tree import Json, Member, Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.sources.source import Source

MAX_DEPTH = 512
MAX_VALUES = 500_000
"""A value costs some 5 microseconds and half a kilobyte; ten thousand tools are half of this."""
MAX_PROBLEMS = 50
"""As many problems are reported of one file: what follows tells its author nothing new."""

KEYS = (Expect.KEY, Expect.FIRST_KEY)
SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(source: Source) -> tuple[Node | None, Diagnostics]:
    """Return the value in `source` and all that is wrong with it; None if what was meant cannot be told."""
    problems, is_text = judge_encoding(source)
    if not is_text:
        return None, problems
    # Wrong bytes are reported by now: here they are characters like any other, and no string may hand them on.
    text = SURROGATE.sub("\ufffd", source.text)
    reader = _Reader(source, text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
    root = reader.read()
    return root, (*problems, *reader.problems)


@dataclass(slots=True)
class _Array:
    """An array that is still open."""

    start: int
    items: list[Node] = field(default_factory=list)
    closer: ClassVar[str] = "]"
    after_comma: ClassVar[Expect] = Expect.VALUE

    def add(self, node: Node) -> None:
        """Take the next value."""
        self.items.append(node)

    def close(self, path: str, end: int) -> Node:
        """Return the whole array."""
        return Node([item.value for item in self.items], path, self.start, end, items=tuple(self.items))


@dataclass(slots=True)
class _Object:
    """An object that is still open; `key` waits for its value."""

    start: int
    members: list[Member] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)
    key: tuple[str, int, int] = ("", 0, 0)
    closer: ClassVar[str] = "}"
    after_comma: ClassVar[Expect] = Expect.KEY

    def add(self, node: Node) -> None:
        """Take the value of the last key."""
        self.members.append(Member(*self.key, node))

    def close(self, path: str, end: int) -> Node:
        """Return the whole object."""
        value = {member.key: member.node.value for member in self.members}
        return Node(value, path, self.start, end, members=tuple(self.members))


class _Reader:
    """The state of reading one text: everything before `at` has been read."""

    def __init__(self, source: Source, text: str, at: int) -> None:
        self.source = source
        self.text = text
        self.at = at
        self.comma = -1
        self.open: list[_Array | _Object] = []
        self.problems: list[Diagnostic] = []
        self.root: Node | None = None
        self.is_lost = False
        self.values = 0

    def read(self) -> Node | None:
        """Read the whole text."""
        expect = Expect.VALUE
        while expect is not Expect.NOTHING:
            expect = STEPS[expect](self)
        return None if self.is_lost else self.root

    def value(self, expect: Expect = Expect.VALUE) -> Expect:
        """Read a scalar or an opening bracket."""
        match = VALUE.match(self.text, self.at)
        if match is None:
            return self.mistake(expect)
        kind = match.lastgroup or ""
        start, end = match.span(kind)
        self.values += 1
        if self.values > MAX_VALUES:
            self.report(Flaw(start, end, f"the file holds more than {MAX_VALUES} values", code="MCP008"))
            self.is_lost = True
            return Expect.NOTHING
        if kind == "open":
            return self.enter(start)
        value, flaws = SCALARS[kind](self.text, start, end)
        for flaw in flaws:
            self.report(flaw)
        return self.scalar(value, start, end)

    def enter(self, start: int) -> Expect:
        """Begin an array or an object."""
        self.at = start + 1
        if len(self.open) == MAX_DEPTH:
            message = f"brackets are nested more than {MAX_DEPTH} deep"
            self.report(Flaw(start, start + 1, message, code="MCP008"))
            return Expect.NOTHING
        is_array = self.text[start] == "["
        self.open.append(_Array(start) if is_array else _Object(start))
        return Expect.ITEM if is_array else Expect.FIRST_KEY

    def scalar(self, value: Json, start: int, end: int) -> Expect:
        """Add a string, a number, a boolean or null."""
        self.at = end
        return self.add(Node(value, self.source.path, start, end))

    def add(self, node: Node) -> Expect:
        """Put a whole value where it belongs."""
        if self.open:
            self.open[-1].add(node)
            return Expect.AFTER
        self.root = node
        return Expect.END

    def item(self) -> Expect:
        """Read the first value of an array, or its end."""
        match = AFTER_VALUE.match(self.text, self.at)
        return self.leave(match.end()) if match and match[1] == "]" else self.value(Expect.ITEM)

    def first_key(self) -> Expect:
        """Read the first key of an object, or its end."""
        match = AFTER_VALUE.match(self.text, self.at)
        return self.leave(match.end()) if match and match[1] == "}" else self.key(Expect.FIRST_KEY)

    def key(self, expect: Expect = Expect.KEY) -> Expect:
        """Read a key, and the colon after it if nothing is odd."""
        match = PLAIN_KEY.match(self.text, self.at)
        if match:
            start, end = match.span(1)
            self.name(self.text[start + 1 : end - 1], start, end)
            self.at = match.end()
            return Expect.VALUE
        match = STRING.match(self.text, self.at)
        if match is None:
            return self.mistake(expect)
        key, flaws = string_value(self.text, *match.span(1))
        for flaw in flaws:
            self.report(flaw)
        self.name(key, *match.span(1))
        return Expect.COLON

    def name(self, key: str, start: int, end: int) -> None:
        """Remember the key of the next value; report one that the object has already."""
        self.at = end
        holder = self.open[-1]
        assert isinstance(holder, _Object)
        holder.key = (key, start, end)
        first = holder.first.setdefault(key, start)
        if first != start:
            hint = f"the first one is on line {self.source.position(first)[0]}, and only the last would count"
            self.report(
                Flaw(start, end, f"the key `{shown(key)}` stands twice in one object", hint=hint, code="MCP003")
            )

    def colon(self) -> Expect:
        """Read the colon after a key that was not plain."""
        match = COLON.match(self.text, self.at)
        if match is None:
            return self.mistake(Expect.COLON)
        self.at = match.end()
        return Expect.VALUE

    def after(self) -> Expect:
        """Read what follows a value: a comma, or the end of the array or object around it."""
        match = AFTER_VALUE.match(self.text, self.at)
        holder = self.open[-1]
        if match and match[1] == ",":
            self.comma = match.start(1)
            self.at = match.end()
            return holder.after_comma
        if match and match[1] == holder.closer:
            return self.leave(match.end())
        return self.mistake(Expect.AFTER)

    def leave(self, end: int) -> Expect:
        """End the innermost array or object."""
        self.at = end
        return self.add(self.open.pop().close(self.source.path, end))

    def end(self) -> Expect:
        """Read the end of the text."""
        is_end = SPACE.fullmatch(self.text, self.at)
        return Expect.NOTHING if is_end else self.mistake(Expect.END)

    def mistake(self, expect: Expect) -> Expect:
        """Report what stands where something else is expected, and go on as if it were what was meant."""
        if len(self.problems) == MAX_PROBLEMS:
            return Expect.NOTHING
        space = SPACE.match(self.text, self.at)
        at = space.end() if space else self.at
        holder = (self.open[-1].start, self.open[-1].closer) if self.open else (-1, "")
        mistake = mistake_at(Context(self.source, self.text, at, expect, self.at, self.comma, *holder))
        self.report(mistake.flaw)
        self.is_lost |= mistake.is_loss
        if mistake.meant is None:
            self.at = mistake.resume
            return mistake.then
        if expect in KEYS:
            self.name(str(mistake.meant.value), at, mistake.resume)
            return Expect.COLON
        return self.scalar(mistake.meant.value, at, mistake.resume)

    def report(self, flaw: Flaw) -> None:
        """Keep one problem; the last one that is kept says so."""
        if len(self.problems) == MAX_PROBLEMS:
            return
        if len(self.problems) == MAX_PROBLEMS - 1:
            flaw = Flaw(flaw.start, flaw.end, "too many problems; the rest of the file was not judged")
        span = Span(self.source.path, flaw.start, flaw.end)
        self.problems.append(diagnose(flaw.code, span, flaw.message, flaw.expected, flaw.hint))


STEPS: dict[Expect, Callable[[_Reader], Expect]] = {
    Expect.VALUE: _Reader.value,
    Expect.ITEM: _Reader.item,
    Expect.KEY: _Reader.key,
    Expect.FIRST_KEY: _Reader.first_key,
    Expect.COLON: _Reader.colon,
    Expect.AFTER: _Reader.after,
    Expect.END: _Reader.end,
}


def _word_value(text: str, start: int, end: int) -> tuple[bool | None, list[Flaw]]:
    return WORDS[text[start:end]], []


def _plain_value(text: str, start: int, end: int) -> tuple[str, list[Flaw]]:
    return text[start + 1 : end - 1], []


SCALARS: dict[str, Callable[[str, int, int], tuple[Json, list[Flaw]]]] = {
    "plain": _plain_value,
    "string": string_value,
    "integer": integer_value,
    "number": number_value,
    "word": _word_value,
}
