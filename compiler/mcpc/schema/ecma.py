"""ECMA-262 regular expressions (as with the `u` flag) in the syntax of `re`, to be compiled with `re.ASCII`.

What cannot be written so that it matches the same texts is refused with a reason; nothing is passed on unread.  Legacy
forms whose meaning is beyond doubt (a lone brace, an escaped punctuation mark) are read as web browsers read them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.schema.ecma_behind import LookBehindError, fixed_width
from mcpc.schema.ecma_properties import PROPERTY, code_points
from mcpc.schema.ecma_sets import DIGITS, LINE_ENDS, WHITE_SPACE, WORD, Ranges, complement, union
from mcpc.schema.ecma_tree import EMPTY, Group, Look, Node, Place, Reference, Repeat, Set, choice, nodes, sequence
from mcpc.schema.ecma_writer import written

if TYPE_CHECKING:
    from collections.abc import Callable

QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(,(\d*))?\})\??")
GROUP = re.compile(r"\(\?(?:<(?![=!])([^>]*)>|:|<?[=!])")
CAPTURE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\((?:(?!\?)|\?<(?![=!])([^>]*)>)", re.DOTALL)
NUMBER = re.compile(r"[1-9]\d*")
CODE_POINT = re.compile(r"u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|c([A-Za-z])|0(?!\d)")
LOW_SURROGATE = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
SETS: dict[str, Ranges] = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "w": WORD,
    "W": complement(WORD),
    "s": WHITE_SPACE,
    "S": complement(WHITE_SPACE),
}
BOUNDARIES = ("b", "B")
DEEPEST = 100
"""Groups in groups; `re` has no bound of its own but the stack of whoever calls it."""
FIRST_HIGH, FIRST_LOW = 0xD800, 0xDC00
PYTHON_ONLY = {"A": "^", "Z": "$", "z": "$", "a": r"\x07", "Q": "", "E": "", "h": r"[\t ]", "R": r"\r?\n", "e": r"\x1b"}


class PatternError(ValueError):
    """Why a pattern is refused.  `position`: the character at fault, counted from 0."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


@lru_cache(maxsize=4096)
def translate(pattern: str) -> str:
    """Return what `re` must be given to search for `pattern`; raise PatternError with a reason if there is nothing."""
    translated = written(parse(pattern))
    try:
        re.compile(translated, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(_REASONS.get(type(error), "") or str(error).partition(" at position")[0], 0) from error
    return translated


def parse(pattern: str) -> Node:
    """Return what `pattern` means, in what Python can be told; raise PatternError with a reason if it cannot be."""
    if len(pattern) > LONGEST:
        raise PatternError(f"it is longer than {LONGEST} characters", 0)
    root = _Reader(pattern).read()
    if sum(len(node.ranges) for node in nodes(root) if isinstance(node, Set)) > RANGES:
        raise PatternError(f"written out, its sets have more than {RANGES} ranges of characters", 0)
    return root


LONGEST = 10_000
RANGES = 20_000
"""What a pattern may hold; `\\p{L}` alone has some 650 ranges."""
MOST_DIGITS = 9
"""A count or a number of more digits is beyond anything `re` takes."""
_REASONS = {OverflowError: "a repetition is too large", RecursionError: "groups are nested too deeply"}


@dataclass(slots=True)
class _Group:
    """A group that is open, or has just been closed and may be repeated."""

    start: int
    kind: str = "("
    number: int = 0
    alternatives: bool = False
    captures: list[int] = field(default_factory=list)
    references: list[int] = field(default_factory=list)
    branches: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def tree(self) -> Node:
        """Return what was read between the parentheses."""
        return choice([*self.branches, sequence(self.items)])


class _Reader:
    """The state of reading one pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.open: list[_Group] = [_Group(0)]
        self.atom: _Group | None = None
        self.closed: set[int] = set()
        self.skippable: set[int] = set()
        self.captures = 0
        self.lost: dict[int, str] = {}
        names = [match[1] for match in CAPTURE.finditer(pattern) if match[0].startswith("(")]
        self.total = len(names)
        self.names = {name: number for number, name in enumerate(names, 1) if name}
        if len(self.names) != sum(map(bool, names)):
            raise PatternError("two groups have one name", 0)

    def read(self) -> Node:
        """Read the whole pattern."""
        while self.at < len(self.pattern):
            STEPS.get(self.pattern[self.at], _Reader.character)(self)
        if len(self.open) > 1:
            raise PatternError("a group is not closed", self.open[-1].start)
        return self.open[0].tree()

    def refuse(self, reason: str) -> PatternError:
        """Return the refusal of what stands at the present place."""
        return PatternError(reason, self.at)

    def add(self, node: Node, length: int, repeatable: bool = True) -> None:
        """Note what the next `length` characters mean."""
        self.open[-1].items.append(node)
        self.atom = _Group(self.at) if repeatable else None
        self.at += length

    def character(self) -> None:
        """Read a character that means itself."""
        point = ord(self.pattern[self.at])
        self.add(Set(((point, point),)), 1)

    def dot(self) -> None:
        """Read `.`: anything but the four line terminators."""
        self.add(Set(complement(LINE_ENDS)), 1)

    def place(self) -> None:
        """Read `^` or `$`."""
        self.add(Place(self.pattern[self.at]), 1, repeatable=False)

    def alternative(self) -> None:
        """Read `|`."""
        group = self.open[-1]
        group.alternatives = True
        group.branches.append(sequence(group.items))
        group.items = []
        self.atom = None
        self.at += 1

    def quantifier(self) -> None:
        """Read a repetition, or the lone brace that looks like the start of one."""
        match = QUANTIFIER.match(self.pattern, self.at)
        if match is None:
            if re.compile(r"\{,\d+\}").match(self.pattern, self.at):
                raise self.refuse("`{,n}` is no repetition in ECMA-262; write `{0,n}`")
            self.character()
            return
        if self.atom is None:
            raise self.refuse(f"there is nothing that `{match[0]}` could repeat")
        if max(len(match[1] or ""), len(match[3] or "")) > MOST_DIGITS:
            raise self.refuse("a repetition is too large")
        least, most = _bounds(match)
        if most is not None and most < least:
            raise self.refuse(f"the bounds of `{match[0]}` are out of order")
        self.repeat(self.atom, least, most)
        is_lazy = match[0][-1] == "?" and len(match[0]) > 1
        self.add(Repeat(self.open[-1].items.pop(), least, most, is_lazy), len(match[0]), repeatable=False)

    def repeat(self, group: _Group, least: int, most: int | None) -> None:
        """Refuse references to what a repetition captured: `re` keeps captures that ECMA-262 forgets."""
        if most is None or most > 1:
            if self.skippable.intersection(group.captures, group.references):
                raise self.refuse("a repeated group refers back to a group inside it that may have been passed over")
            self.lost.update(dict.fromkeys(group.captures, "a reference to a group that is repeated"))
        if least == 0:
            self.skippable.update(group.captures)

    def enter(self) -> None:
        """Read the start of a group."""
        match = GROUP.match(self.pattern, self.at)
        if match is None and self.pattern.startswith("(?", self.at):
            raise self.refuse(f"`{self.pattern[self.at : self.at + 3]}` starts no group in ECMA-262")
        if len(self.open) > DEEPEST:
            raise self.refuse("groups are nested too deeply")
        group = _Group(self.at, "(")
        if match and match[1] is None:
            group.kind = match[0]
        else:
            self.capture(group, match[1] if match else None)
        self.open.append(group)
        self.atom = None
        self.at += len(match[0]) if match else 1

    def capture(self, group: _Group, name: str | None) -> None:
        """Count a group that references may name."""
        if name is not None and not name.replace("$", "_").isidentifier():
            raise self.refuse(f"`{name}` is no name of a group")
        self.captures += 1
        group.number = self.captures
        group.captures.append(group.number)

    def leave(self) -> None:
        """Read the end of a group."""
        if len(self.open) == 1:
            raise self.refuse("`)` closes no group")
        group = self.open.pop()
        self.add(self.closed_tree(group), 1, repeatable=group.kind in ("(", "(?:"))
        if group.kind in ("(", "(?:"):
            self.atom = group
        if group.alternatives:
            self.skippable.update(group.captures)
        self.closed.add(group.number)
        if group.kind in _LOST:
            self.lost.update(dict.fromkeys(group.captures, _LOST[group.kind]))
        self.open[-1].captures += group.captures
        self.open[-1].references += group.references

    def closed_tree(self, group: _Group) -> Node:
        """Return what a group means that has just been closed."""
        if group.kind == "(":
            return Group(group.tree(), group.number)
        if group.kind == "(?:":
            return group.tree()
        look = Look(group.tree(), is_ahead="<" not in group.kind, is_positive=group.kind.endswith("="))
        try:
            return look if look.is_ahead else fixed_width(look)
        except LookBehindError as error:
            raise PatternError(str(error), group.start) from error

    def reference(self, number: int, length: int) -> None:
        """Read a reference to the group `number`; a group that has matched nothing yet refers to the empty text."""
        if any(group.kind in ("(?<=", "(?<!") for group in self.open):
            raise self.refuse("a reference inside a look-behind cannot be compiled")
        loss = self.lost.get(number, "")
        if number not in self.closed or loss == FORGOTTEN:
            self.add(EMPTY, length)
            return
        if loss:
            raise self.refuse(f"{loss} cannot be compiled")
        self.open[-1].references.append(number)
        self.add(Reference(number), length)
        self.atom = _Group(self.at, references=[number])

    def escape(self) -> None:
        """Read a backslash and what it gives a meaning to."""
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in BOUNDARIES:
            self.add(Place(following), 2, repeatable=False)
            return
        if following == "k":
            match = re.compile(r"<([^>]*)>").match(self.pattern, self.at + 2)
            if match is None or match[1] not in self.names:
                raise self.refuse(r"`\k` refers to no group")
            self.reference(self.names[match[1]], 2 + len(match[0]))
            return
        match = NUMBER.match(self.pattern, self.at + 1)
        if match:
            if len(match[0]) > MOST_DIGITS or int(match[0]) > self.total:
                raise self.refuse(f"there is no group {match[0][:MOST_DIGITS]}")
            self.reference(int(match[0]), 1 + len(match[0]))
            return
        start = self.at
        ranges = self.class_escape()
        self.at, length = start, self.at - start
        self.add(Set(ranges), length)

    def class_escape(self) -> Ranges:
        """Read an escape that may stand in a class."""
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in SETS:
            self.at += 2
            return SETS[following]
        if following in ("p", "P"):
            return self.property()
        point = self.code_point()
        return ((point, point),)

    def property(self) -> Ranges:
        r"""Read `\p{...}` or `\P{...}`."""
        match = PROPERTY.match(self.pattern, self.at + 2)
        ranges = code_points(match[1], match[2]) if match else None
        if match is None or ranges is None:
            shown = self.pattern[self.at : match.end() if match else self.at + 2]
            raise self.refuse(
                f"`{shown}` names no Unicode property of ECMA-262, such as `\\p{{L}}` or `\\p{{Script=Greek}}`"
            )
        is_negative = self.pattern[self.at + 1] == "P"
        self.at += 2 + len(match[0])
        return complement(ranges) if is_negative else ranges

    def code_point(self) -> int:
        """Read an escape that means one character."""
        following = self.pattern[self.at + 1 : self.at + 2]
        match = CODE_POINT.match(self.pattern, self.at + 1)
        if match:
            point = _code_point(match)
            if point > 0x10FFFF:
                raise self.refuse(f"`\\{match[0]}` is no code point")
            self.at = match.end()
            low = LOW_SURROGATE.match(self.pattern, self.at)
            if FIRST_HIGH <= point < FIRST_LOW and match[2] and low:
                self.at = low.end()
                return 0x10000 + ((point - FIRST_HIGH) << 10) + int(low[1], 16) - FIRST_LOW
            return point
        if following in CONTROLS:
            self.at += 2
            return ord(CONTROLS[following])
        if not following or following.isalnum() or ord(following) > 0x7E or following <= " ":
            raise self.unknown_escape(following)
        self.at += 2
        return ord(following)

    def unknown_escape(self, following: str) -> PatternError:
        """Return the refusal of an escape ECMA-262 does not have."""
        if not following:
            return self.refuse("the pattern ends with a backslash")
        instead = PYTHON_ONLY.get(following)
        return self.refuse(f"`\\{following}` is no escape in ECMA-262" + (f"; write `{instead}`" if instead else ""))

    def brackets(self) -> None:
        """Read a character class."""
        start = self.at
        is_negative = self.pattern.startswith("^", start + 1)
        self.at += 2 if is_negative else 1
        parts: list[Ranges] = []
        while not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise PatternError("a character class is not closed", start)
            parts.append(self.class_part())
        length = self.at + 1 - start
        self.at = start
        self.add(Set(complement(union(parts)) if is_negative else union(parts)), length)

    def class_part(self) -> Ranges:
        """Read one character, one range or one set of a class."""
        first, is_first_set = self.class_atom()
        if not self.pattern.startswith("-", self.at) or self.pattern.startswith("-]", self.at):
            return first
        self.at += 1
        last, is_last_set = self.class_atom()
        if is_first_set or is_last_set:
            raise self.refuse("a range in a character class has a set as one of its ends")
        if last[0][0] < first[0][0]:
            raise self.refuse("a range in a character class is out of order")
        return ((first[0][0], last[0][0]),)

    def class_atom(self) -> tuple[Ranges, bool]:
        """Read one end of what may be a range; say whether it is a set, which can be none."""
        text = self.pattern[self.at : self.at + 1]
        if not text:
            raise self.refuse("a character class is not closed")
        following = self.pattern[self.at + 1 : self.at + 2]
        if text == "\\" and following != "b":
            return self.class_escape(), following in SETS or following in ("p", "P")
        self.at += 1 if text != "\\" else 2
        point = ord(text) if text != "\\" else ord("\b")
        return ((point, point),), False


FORGOTTEN = "forgotten"
_LOST = {"(?!": FORGOTTEN, "(?<!": FORGOTTEN, "(?<=": "a reference to a group inside a look-behind"}
"""What a later reference finds of a look-around's groups: nothing if it had to fail; another order, looking behind."""

STEPS: dict[str, Callable[[_Reader], None]] = {
    ".": _Reader.dot,
    "^": _Reader.place,
    "$": _Reader.place,
    "|": _Reader.alternative,
    "*": _Reader.quantifier,
    "+": _Reader.quantifier,
    "?": _Reader.quantifier,
    "{": _Reader.quantifier,
    "(": _Reader.enter,
    ")": _Reader.leave,
    "\\": _Reader.escape,
    "[": _Reader.brackets,
}


def _bounds(match: re.Match[str]) -> tuple[int, int | None]:
    if match[1] is None:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[match[0][0]]
    least = int(match[1])
    return least, least if match[2] is None else int(match[3]) if match[3] else None


def _code_point(match: re.Match[str]) -> int:
    digits = match[1] or match[2] or match[3]
    if digits:
        return int(digits, 16)
    return ord(match[4]) % 32 if match[4] else 0
