"""Syntax tree of an ECMA-262 pattern, and its form for `re.ASCII`; only groups that are referred to capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.schema.ecma.code_point_sets import union, written_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mcpc.schema.ecma.code_point_sets import Ranges


@dataclass(frozen=True, slots=True)
class Set:
    """A character of a set of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """A sequence of nodes; an empty one matches the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A disjunction: the first alternative that leads to a match."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A quantifier: at least `least` times and at most `most` times, None for any number."""

    item: Node
    least: int
    most: int | None
    is_lazy: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A capturing group."""

    item: Node
    number: int


@dataclass(frozen=True, slots=True)
class Look:
    """A lookahead or lookbehind."""

    item: Node
    is_ahead: bool
    is_positive: bool


@dataclass(frozen=True, slots=True)
class Assertion:
    """An assertion: `^`, `$`, `b` or `B`."""

    kind: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A backreference to a group."""

    number: int


Node = Set | Sequence | Choice | Repeat | Group | Look | Assertion | Reference

EMPTY = Sequence(())


def children(node: Node) -> tuple[Node, ...]:
    """Return the children of a node."""
    if isinstance(node, Sequence):
        return node.items
    if isinstance(node, Choice):
        return node.branches
    return (node.item,) if isinstance(node, Repeat | Group | Look) else ()


def nodes(root: Node) -> Iterator[Node]:
    """Yield a node and all its descendants."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += children(node)


def sequence(items: list[Node]) -> Node:
    """Return the sequence of these nodes."""
    return items[0] if len(items) == 1 else Sequence(tuple(items))


def choice(branches: list[Node]) -> Node:
    """Return the disjunction of `branches`; a disjunction of single characters becomes one set."""
    sets = [branch.ranges for branch in branches if isinstance(branch, Set)]
    if len(sets) == len(branches):
        return Set(union(sets))
    return branches[0] if len(branches) == 1 else Choice(tuple(branches))


Groups = dict[int, int]
"""The number of each capturing group, by its number in the pattern."""
PLACES = {"^": r"\A", "$": r"\Z", "b": r"\b", "B": r"(?!\b)"}
r"""`$` is the very end, never before a last line feed; the `\B` of `re` does not match in an empty text."""
LOOKS = {(True, True): "(?=", (True, False): "(?!", (False, True): "(?<=", (False, False): "(?<!"}
COUNTS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def write_pattern(root: Node) -> str:
    """Return the pattern for `re`."""
    referenced = {node.number for node in nodes(root) if isinstance(node, Reference)}
    groups = sorted({node.number for node in nodes(root) if isinstance(node, Group)} & referenced)
    return _write(root, {number: place for place, number in enumerate(groups, 1)})


def _write(node: Node, groups: Groups) -> str:
    return _WRITERS[type(node)](node, groups)


def _write_sequence(node: Sequence, groups: Groups) -> str:
    return "".join(_item(item, groups) for item in node.items)


def _write_choice(node: Choice, groups: Groups) -> str:
    return "|".join(_write(branch, groups) for branch in node.branches)


def _write_reference(node: Reference, groups: Groups) -> str:
    """Return a backreference that is empty if its group has not matched."""
    return f"(?({groups[node.number]})\\{groups[node.number]})"


def _write_look(node: Look, groups: Groups) -> str:
    return f"{LOOKS[node.is_ahead, node.is_positive]}{_write(node.item, groups)})"


def _write_group(node: Group, groups: Groups) -> str:
    text = _write(node.item, groups)
    return f"({text})" if node.number in groups else text


def _item(node: Node, groups: Groups) -> str:
    """Return the text of an item of a sequence."""
    # A group that nothing refers to is written without parentheses, so that a choice in it needs others.
    while isinstance(node, Group) and node.number not in groups:
        node = node.item
    return f"(?:{_write(node, groups)})" if isinstance(node, Choice) else _write(node, groups)


def _write_repeat(node: Repeat, groups: Groups) -> str:
    item = node.item
    while isinstance(item, Group) and item.number not in groups:
        item = item.item
    text = _write(item, groups)
    # Of a sequence only the last character would be repeated, and an assertion alone cannot be.
    if not isinstance(item, Set | Group):
        text = f"(?:{text})"
    most = "" if node.most is None else node.most
    count = f"{{{node.least}}}" if node.least == node.most else f"{{{node.least},{most}}}"
    return text + COUNTS.get((node.least, node.most), count) + ("?" if node.is_lazy else "")


_WRITERS: dict[type[Node], Callable[[Any, Groups], str]] = {
    Set: lambda node, _: written_set(node.ranges),
    Sequence: _write_sequence,
    Choice: _write_choice,
    Repeat: _write_repeat,
    Group: _write_group,
    Look: _write_look,
    Assertion: lambda node, _: PLACES[node.kind],
    Reference: _write_reference,
}
