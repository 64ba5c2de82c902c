"""Whether a pattern matches all texts that another matches, where both are sequences of characters with quantifiers.

Step by step, a set of characters has to have the other's, and its number of times, too.  Patterns with alternatives,
lookarounds or groups that are repeated are not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.ecma.code_point_sets import Ranges, intersection
from mcpc.schema.ecma.translation import parse
from mcpc.schema.ecma.tree import Assertion, Group, Repeat, Sequence, Set
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.schema.ecma.tree import Node

    Step = tuple[Ranges | str, int, float]

UNLIMITED = float("inf")


class OtherPatternError(ValueError):
    """A pattern is of another form."""


def accepts_texts(wide: str, narrow: str) -> bool | None:
    """Tell whether `wide` matches all texts that `narrow` matches; None if that is not decided."""
    if wide == narrow:
        return True
    try:
        before, after = _merged(narrow), _merged(wide)
    except (PatternError, OtherPatternError, RecursionError):
        return None
    if _has_steps(after, before):
        return True
    return False if _has_steps(before, after) else None


def _has_steps(wide: list[Step], narrow: list[Step]) -> bool:
    return len(wide) == len(narrow) and all(
        _has(one, other) and least <= low and high <= most
        for (one, least, most), (other, low, high) in zip(wide, narrow, strict=True)
    )


def _has(wide: Ranges | str, narrow: Ranges | str) -> bool:
    if isinstance(wide, str) or isinstance(narrow, str):
        return wide == narrow
    return intersection(wide, narrow) == narrow


def _merged(pattern: str) -> list[Step]:
    """Return the steps of a pattern, with the same set at most once in a row."""
    steps: list[Step] = []
    for what, least, most in _steps(parse(pattern)):
        if steps and steps[-1][0] == what:
            least, most = least + steps[-1][1], most + steps.pop()[2]
        steps.append((what, least, most))
    return steps


def _steps(node: Node) -> Iterator[Step]:
    if isinstance(node, Set):
        yield node.ranges, 1, 1
    elif isinstance(node, Assertion) and node.kind in "^$":
        yield node.kind, 1, 1
    elif isinstance(node, Repeat) and isinstance(node.item, Set):
        yield node.item.ranges, node.least, UNLIMITED if node.most is None else node.most
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _steps(item)
    elif isinstance(node, Group):
        yield from _steps(node.item)
    else:
        raise OtherPatternError
