"""Which tools may be called: none that nobody allowed.

Who runs the server decides by MCPBASH_TOOL_ALLOWLIST, names and nothing else, or MCPBASH_TOOL_ALLOW_DEFAULT; if that
says nothing, what was allowed at the build holds (`*` in a name stands for anything).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EVERYTHING = ("*", "all")
DENIED = "Tool '{name}' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."
NOT_LISTED = "Tool '{name}' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"
NOTHING_ALLOWED = (
    "no tool may be called, for none was allowed: set MCPBASH_TOOL_ALLOWLIST to their names (or to *), "
    "set MCPBASH_TOOL_ALLOW_DEFAULT=allow, or build with --allow NAME"
)


class Policy:
    """One server's.  `words`: what is allowed, None for nothing at all; `allows_everything`: nothing is forbidden."""

    def __init__(self, listed: str, usual: str, built: Sequence[str]) -> None:
        self.is_pattern = False
        if listed:
            self.words: frozenset[str] | None = frozenset(listed.replace(",", " ").split())
        elif usual in ("allow", "all"):
            self.words = frozenset(EVERYTHING)
        elif not usual and built:
            self.words, self.is_pattern = frozenset(built), True
        else:
            self.words = None
        self.allows_everything = self.words is not None and not self.words.isdisjoint(EVERYTHING)

    def refusal(self, name: str) -> str:
        """Return why a tool may not be called, nothing if it may."""
        if self.words is None:
            return DENIED.replace("{name}", name)
        if self.allows_everything or name in self.words:
            return ""
        if self.is_pattern and any(matches(word, name) for word in self.words):
            return ""
        return NOT_LISTED.replace("{name}", name)


def matches(pattern: str, name: str) -> bool:
    """Tell whether a name is one that a pattern means: the stretches between its `*`, in their order."""
    first, *rest = pattern.split("*")
    if not rest:
        return name == first
    *middle, last = rest
    if not name.startswith(first) or len(name) < len(first) + len(last) or not name.endswith(last):
        return False
    left = name[len(first) : len(name) - len(last)]
    for stretch in middle:
        place = left.find(stretch)
        if place < 0:
            return False
        left = left[place + len(stretch) :]
    return True
