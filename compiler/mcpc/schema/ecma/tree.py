"""Syntax tree of an ECMA-262 pattern, without how it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.schema.ecma.code_point_sets import union

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.schema.ecma.code_point_sets import Ranges


@dataclass(frozen=True, slots=True)
class Set:
    """One character out of a set of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; none is the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first that leads to a match."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """At least `least` times and at most `most` times; None is any number."""

    item: Node
    least: int
    most: int | None
    is_lazy: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """What a reference may refer to."""

    item: Node
    number: int


@dataclass(frozen=True, slots=True)
class Look:
    """Whether `item` matches from here on, or up to here."""

    item: Node
    is_ahead: bool
    is_positive: bool


@dataclass(frozen=True, slots=True)
class Assertion:
    """`^`, `$`, `b` or `B`."""

    kind: str


@dataclass(frozen=True, slots=True)
class Reference:
    """What a group has matched."""

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
    """Yield a node and everything in it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += children(node)


def sequence(items: list[Node]) -> Node:
    """Return what matches one after the other."""
    return items[0] if len(items) == 1 else Sequence(tuple(items))


def choice(branches: list[Node]) -> Node:
    """Return what matches one of `branches`; alternatives of single characters become one set."""
    sets = [branch.ranges for branch in branches if isinstance(branch, Set)]
    if len(sets) == len(branches):
        return Set(union(sets))
    return branches[0] if len(branches) == 1 else Choice(tuple(branches))
