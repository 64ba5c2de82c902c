"""The tools that an operator chooses when a server is started: by name, by toolset, or those that change nothing.

A toolset is a tag of tools, or a list of patterns that the project declares.  Of a compiled list the chosen names are
known from the start.  A tool of a list that is made at run time is judged by its entry in that list.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcpc_runtime.protocol.globs import matches

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
