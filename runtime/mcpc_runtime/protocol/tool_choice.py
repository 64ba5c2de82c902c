"""The tools that an operator chooses when a server is started: by name, by toolset, or those that change nothing.

A toolset is a tag of tools, or a list of patterns that the project declares.  Of a compiled list the chosen names are
known from the start.  A tool of a list that is made at run time is judged by its entry in that list.

Name patterns, and pairs of pattern lists: included and excluded names; exclusion takes precedence.

`*` matches any characters; `any_character` matches one character, where a system has such a sign. The time is bounded
by the length of the pattern times the length of the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

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
    # The first part is at the beginning and the last at the end, without overlap; the others are searched between them.
    at, end = len(first), len(name) - len(last)
    if at > end or _find(first, name, 0, at, any_character) < 0 or _find(last, name, end, len(name), any_character) < 0:
        return False
    for part in middle:
        place = _find(part, name, at, end, any_character)
        if place < 0:
            return False
        at = place + len(part)
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


Entry = dict[str, Any]
"""A tool as it is in a list."""


TAG_KEYS = ("fastmcp", "_fastmcp")
"""The members of `_meta` in which FastMCP, and decorators of mcpc, write the tags of a tool."""


class ToolChoice:
    """A choice of tools.

    `patterns`: of names, by `--tools` and by the chosen toolsets that the project declares; `tags`: the chosen
    toolsets; without any of both, all tools are chosen. `read_only`: only tools that change nothing. `names`: the
    chosen tools of the compiled list.
    """

    __slots__ = ("names", "patterns", "read_only", "tags")

    def __init__(self, patterns: Iterable[str], tags: Iterable[str], *, read_only: bool) -> None:
        self.patterns = tuple(patterns)
        self.tags = frozenset(tags)
        self.read_only = read_only
        self.names: frozenset[str] = frozenset()

    def as_row(self) -> Entry:
        """Return what it takes to make an equal choice in another process."""
        return {"patterns": [*self.patterns], "tags": sorted(self.tags), "read_only": self.read_only}

    @property
    def needs_entries(self) -> bool:
        """Whether a name alone does not decide."""
        return self.read_only or bool(self.tags)

    def offers(self, name: str, *, at_run_time: bool) -> bool:
        """Tell whether a tool may be called, as far as its name decides: the program is asked about the others."""
        if not at_run_time:
            return name in self.names
        # Where a name alone does not decide, the worker looks the tool up in the program's list.
        return self.needs_entries or self._names(name)

    def takes(self, tool: Entry) -> bool:
        """Tell whether a tool is chosen by its entry in a list."""
        if self.read_only and not is_read_only(tool):
            return False
        if not self.patterns and not self.tags:
            return True
        return self._names(tool["name"]) or not self.tags.isdisjoint(tags_of(tool))

    def _names(self, name: str) -> bool:
        return any(matches(pattern, name) for pattern in self.patterns)


def is_read_only(tool: Entry) -> bool:
    """Tell whether a tool says that it changes nothing."""
    annotations = tool.get("annotations")
    return type(annotations) is dict and annotations.get("readOnlyHint") is True


def tags_of(tool: Entry) -> list[str]:
    """Return the tags of a tool."""
    meta = tool.get("_meta")
    places = [meta.get(key) for key in TAG_KEYS] if type(meta) is dict else []
    tags = [place.get("tags") for place in places if type(place) is dict]
    return [tag for listed in tags if type(listed) is list for tag in listed if type(tag) is str]
