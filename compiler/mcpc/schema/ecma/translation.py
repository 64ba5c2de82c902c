r"""Translation of ECMA-262 regular expressions (as with the `u` flag) to the syntax of `re`, compiled with `re.ASCII`.

A pattern without an equivalent is refused with a reason.  Legacy forms with an obvious meaning (a lone brace, an
escaped punctuation mark) are read as web browsers read them.

To decide whether a pattern is found, the minimum of iterations is enough at both ends.  This makes the most common
patterns with quadratic time linear.

    [a-z]+@[a-z]+     [a-z]@[a-z]
    \s+$              \s$
    .*foo.*           foo

A literal after a few sets of characters is moved before them, because `re` searches for a literal much faster:

    [a-z]@[a-z]       @(?<=[a-z]@)[a-z]

The rest of the pattern sees the same text as before, so that it may contain `^`, `$`, `\b` and lookarounds.  Groups
with backreferences are not changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile

from mcpc.schema.ecma.code_point_sets import DIGITS, WHITE_SPACE, WORD, Ranges, code_points, complement, union
from mcpc.schema.ecma.lookbehind import LookBehindError, fixed_width
from mcpc.schema.ecma.tree import (
    EMPTY,
    Assertion,
    Choice,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
    Set,
    choice,
    nodes,
    sequence,
    write_pattern,
)
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


FIRST, LAST = 0, -1
MAX_BEHIND = 8
"""Maximum number of sets of characters before the literal."""


def trimmed(root: Node) -> Node:
    """Return a pattern that is found in the same texts as `root`."""
    # A shorter match might capture another text for a reference.
    if any(isinstance(node, Reference) for node in nodes(root)):
        return root
    return _shortened(_shortened(root, FIRST), LAST)


def literal_first(root: Node) -> Node:
    """Return a pattern that is found in the same texts as `root`, beginning with a literal if possible."""
    items = root.items if isinstance(root, Sequence) else ()
    sets = [item for item in takewhile(lambda item: isinstance(item, Set), items) if isinstance(item, Set)]
    # 0 if there is no literal, or if it is the first already.
    literal = next(
        (at for at, item in enumerate(sets) if (len(item.ranges) == 1 and item.ranges[0][0] == item.ranges[0][1])), 0
    )
    if not 0 < literal <= MAX_BEHIND:
        return root
    behind = Look(Sequence(items[: literal + 1]), is_ahead=False, is_positive=True)
    return Sequence((items[literal], behind, *items[literal + 1 :]))


def _shortened(node: Node, end: int) -> Node:
    """Return `node` with the minimum of iterations at one end."""
    match node:
        case Group():
            return _shortened(node.item, end)
        case Choice():
            return Choice(tuple(_shortened(branch, end) for branch in node.branches))
        case Repeat():
            return _minimum_iterations(node, end)
        case Look() if end == LAST and node.is_ahead:
            return replace(node, item=_shortened(node.item, LAST))
        case Sequence() if node.items:
            return _shortened_sequence(node.items, end)
        case _:
            return node


def _shortened_sequence(items: tuple[Node, ...], end: int) -> Node:
    items_left = list(items)
    while items_left:
        items_left[end] = _shortened(items_left[end], end)
        if items_left[end] != EMPTY:
            break
        del items_left[end]
    return sequence(items_left)


def _minimum_iterations(node: Repeat, end: int) -> Node:
    """Return the minimum of iterations, of which the outermost may be shortened, too."""
    if node.least == 0:
        return EMPTY
    if node.least == 1:
        return _shortened(node.item, end)
    return Repeat(node.item, node.least, node.least)
