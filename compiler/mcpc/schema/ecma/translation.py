"""Translation of ECMA-262 regular expressions (as with the `u` flag) to the syntax of `re`, compiled with `re.ASCII`.

A pattern without an equivalent is refused with a reason.  Legacy forms with an obvious meaning (a lone brace, an
escaped punctuation mark) are read as web browsers read them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from mcpc.schema.ecma.code_point_sets import DIGITS, WHITE_SPACE, WORD, Ranges, complement, union
from mcpc.schema.ecma.lookbehind import LookBehindError, fixed_width
from mcpc.schema.ecma.tree import (
    EMPTY,
    Assertion,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Set,
    choice,
    nodes,
    sequence,
    write_pattern,
)
from mcpc.schema.ecma.unicode_properties import code_points
from mcpc_runtime.protocol.validation.formats.ecma_regex import MAX_DIGITS, PatternError, PatternReader

SETS: dict[str, Ranges] = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "w": WORD,
    "W": complement(WORD),
    "s": WHITE_SPACE,
    "S": complement(WHITE_SPACE),
}
MAX_DEPTH = 100
"""Maximum nesting of groups; `re` has no limit except the stack of its caller."""


@lru_cache(maxsize=4096)
def translate(pattern: str) -> str:
    """Return the `re` pattern that searches for `pattern`; raise PatternError with a reason if there is none."""
    translated = write_pattern(parse(pattern))
    try:
        re.compile(translated, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(_REASONS.get(type(error), "") or str(error).partition(" at position")[0], 0) from error
    return translated


def parse(pattern: str) -> Node:
    """Return the syntax tree of `pattern` in nodes that Python supports, or raise PatternError."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise PatternError(f"it is longer than {MAX_PATTERN_LENGTH} characters", 0)
    root = _TreeReader(pattern).tree()
    if sum(len(node.ranges) for node in nodes(root) if isinstance(node, Set)) > RANGES:
        raise PatternError(f"written out, its sets have more than {RANGES} ranges of characters", 0)
    return root


MAX_PATTERN_LENGTH = 10_000
RANGES = 20_000
r"""Maximum number of ranges in a pattern; `\p{L}` alone has some 650."""
_REASONS = {OverflowError: "a repetition is too large", RecursionError: "groups are nested too deeply"}
FORGOTTEN = "forgotten"
_LOST = {"(?!": FORGOTTEN, "(?<!": FORGOTTEN, "(?<=": "a reference to a group inside a look-behind"}
"""What a later reference to a group in a lookaround finds: nothing in a negative one; another match in a lookbehind."""


@dataclass(slots=True)
class _Group:
    """A group that is open, or has just been closed and may be quantified."""

    start: int
    kind: str = "("
    number: int = 0
    alternatives: bool = False
    captures: list[int] = field(default_factory=list)
    references: list[int] = field(default_factory=list)
    branches: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def tree(self) -> Node:
        """Return the node between the parentheses."""
        return choice([*self.branches, sequence(self.items)])


class _TreeReader(PatternReader):
    """A reader that builds the syntax tree, and refuses what `re` would match differently."""

    is_lenient = True

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.groups: list[_Group] = [_Group(0)]
        self.atom = _Group(0)
        self.closed: set[int] = set()
        self.skippable: set[int] = set()
        self.lost: dict[int, str] = {}

    def tree(self) -> Node:
        """Return the node of the whole pattern."""
        self.read()
        return self.groups[0].tree()

    def add(self, node: Node) -> None:
        """Append a node."""
        self.groups[-1].items.append(node)
        self.atom = _Group(self.at)

    def named_set(self, letter: str) -> Ranges:
        return SETS[letter]

    def property_set(self, name: str | None, value: str) -> Ranges | None:
        ranges = code_points(name, value)
        return complement(ranges) if ranges is not None and self.text.startswith("P", self.at + 1) else ranges

    def take_set(self, ranges: Ranges, *, is_negative: bool = False) -> None:
        ranges = union((ranges,))
        self.add(Set(complement(ranges) if is_negative else ranges))

    def take_anchor(self, kind: str) -> None:
        self.add(Assertion(kind))

    def take_branch(self) -> None:
        group = self.groups[-1]
        group.alternatives = True
        group.branches.append(sequence(group.items))
        group.items = []

    def take_repetition(self, least: str, most: str, *, is_lazy: bool) -> None:
        if max(len(least), len(most)) > MAX_DIGITS:
            raise self.refuse("a repetition is too large")
        self.repeat(self.atom, int(least), int(most) if most else None)
        self.add(Repeat(self.groups[-1].items.pop(), int(least), int(most) if most else None, is_lazy))

    def repeat(self, group: _Group, least: int, most: int | None) -> None:
        """Refuse references to groups in a repetition: `re` keeps captures that ECMA-262 resets."""
        if most is None or most > 1:
            if self.skippable.intersection(group.captures, group.references):
                raise self.refuse("a repeated group refers back to a group inside it that may have been passed over")
            self.lost.update(dict.fromkeys(group.captures, "a reference to a group that is repeated"))
        if least == 0:
            self.skippable.update(group.captures)

    def take_opening(self, kind: str) -> None:
        if len(self.groups) > MAX_DEPTH:
            raise self.refuse("groups are nested too deeply")
        group = _Group(self.at, kind)
        if kind == "(":
            group.number = self.captures
            group.captures.append(group.number)
        self.groups.append(group)

    def take_closing(self) -> None:
        group = self.groups.pop()
        self.add(_closed(group))
        if group.kind in ("(", "(?:"):
            self.atom = group
        if group.alternatives:
            self.skippable.update(group.captures)
        self.closed.add(group.number)
        if group.kind in _LOST:
            self.lost.update(dict.fromkeys(group.captures, _LOST[group.kind]))
        self.groups[-1].captures += group.captures
        self.groups[-1].references += group.references

    def take_reference(self, number: int | None) -> None:
        """Append a backreference; a group without a match refers to the empty text."""
        if any(group.kind in ("(?<=", "(?<!") for group in self.groups):
            raise self.refuse("a reference inside a look-behind cannot be compiled")
        loss = "" if number is None else self.lost.get(number, "")
        if number is None or number not in self.closed or loss == FORGOTTEN:
            self.add(EMPTY)
            return
        if loss:
            raise self.refuse(f"{loss} cannot be compiled")
        self.groups[-1].references.append(number)
        self.add(Reference(number))
        self.atom.references.append(number)


def _closed(group: _Group) -> Node:
    """Return the node of a group that has just been closed."""
    if group.kind == "(":
        return Group(group.tree(), group.number)
    if group.kind == "(?:":
        return group.tree()
    look = Look(group.tree(), is_ahead="<" not in group.kind, is_positive=group.kind.endswith("="))
    try:
        return look if look.is_ahead else fixed_width(look)
    except LookBehindError as error:
        raise PatternError(str(error), group.start) from error
