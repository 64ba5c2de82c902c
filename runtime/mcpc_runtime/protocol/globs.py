"""Which tools a pair of lists lets in: patterns that include, and patterns that exclude, which come first.

`*` stands for any characters and `?` for one; whatever a client asks, the time is bounded by pattern times name.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def allows(included: Sequence[str], excluded: Sequence[str], name: str) -> bool:
    """Tell whether a name is included and not excluded."""
    is_excluded = any(fits(one, name) for one in excluded)
    return not is_excluded and any(fits(one, name) for one in included)


def fits(pattern: str, name: str) -> bool:
    """Tell whether a name is what a pattern stands for: back to the last `*` and no further where it fails."""
    at = place = 0
    star, resumed = -1, 0
    while at < len(name):
        if place < len(pattern) and pattern[place] == "*":
            star, resumed = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("?", name[at]):
            place, at = place + 1, at + 1
        elif star < 0:
            return False
        else:
            resumed += 1
            place, at = star + 1, resumed
    return not pattern[place:].strip("*")


class Tools:
    """What several pairs of lists let in together; equal pairs are equal tools."""

    __slots__ = ("pairs",)

    def __init__(self, *pairs: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        self.pairs = pairs

    def __call__(self, name: str) -> bool:
        """Tell whether all pairs let this tool in."""
        return all(allows(included, excluded, name) for included, excluded in self.pairs)

    def __eq__(self, other: object) -> bool:
        """Tell whether they are the same tools."""
        return isinstance(other, Tools) and other.pairs == self.pairs

    def __hash__(self) -> int:
        """Return the same number for equal tools."""
        return hash(self.pairs)
