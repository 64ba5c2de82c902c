"""Name patterns, and pairs of pattern lists: included and excluded names; exclusion takes precedence.

`*` matches any characters; `any_character` matches one character, where a system has such a sign. The time is bounded
by the length of the pattern times the length of the name.
"""

from __future__ import annotations

from collections.abc import Sequence

ANY_CHARACTER = "?"


def allows(included: Sequence[str], excluded: Sequence[str], name: str) -> bool:
    """Tell whether a name is included and not excluded; `?` matches one character."""
    is_excluded = any(matches(pattern, name, ANY_CHARACTER) for pattern in excluded)
    return not is_excluded and any(matches(pattern, name, ANY_CHARACTER) for pattern in included)


def matches(pattern: str, name: str, any_character: str = "") -> bool:
    """Tell whether a name matches a pattern.

    The parts between the `*` are searched in their order, each at its leftmost position, so no backtracking is needed.
    """
    first, *rest = pattern.split("*")
    if not rest:
        return len(first) == len(name) and _find(first, name, 0, len(name), any_character) == 0
    *middle, last = rest
    at, end = len(first), len(name) - len(last)
    if at > end or _find(first, name, 0, at, any_character) < 0 or _find(last, name, end, len(name), any_character) < 0:
        return False
    for part in middle:
        found = _find(part, name, at, end, any_character)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _find(part: str, name: str, start: int, end: int, any_character: str) -> int:
    """Return the leftmost position of a part of a pattern between two positions of a name, -1 if it is not there."""
    if not any_character or any_character not in part:
        return name.find(part, start, end)
    for at in range(start, end - len(part) + 1):
        if all(sign in (any_character, name[at + offset]) for offset, sign in enumerate(part)):
            return at
    return -1


class ToolSelection:
    """The tools that all of several pairs of lists allow; equal pairs are equal selections."""

    __slots__ = ("pairs",)

    def __init__(self, *pairs: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        self.pairs = pairs

    def __call__(self, name: str) -> bool:
        """Tell whether all pairs allow this tool."""
        return all(allows(included, excluded, name) for included, excluded in self.pairs)

    def __eq__(self, other: object) -> bool:
        """Tell whether the selections have the same pairs."""
        return isinstance(other, ToolSelection) and other.pairs == self.pairs

    def __hash__(self) -> int:
        """Return the same number for equal selections."""
        return hash(self.pairs)
