"""The policy of tools: a tool may be called only if it is allowed.

The operator allows tools with MCPBASH_TOOL_ALLOWLIST (exact names) or MCPBASH_TOOL_ALLOW_DEFAULT; without both, the
allowlist of the build applies (`*` in a name matches anything).
"""

from __future__ import annotations

from collections.abc import Sequence

from mcpc_runtime.protocol.globs import matches

EVERYTHING = ("*", "all")
DENIED = "Tool '{name}' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."
NOT_LISTED = "Tool '{name}' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"
NOTHING_ALLOWED = (
    "no tool is allowed to be called: set MCPBASH_TOOL_ALLOWLIST to tool names (or to *), "
    "set MCPBASH_TOOL_ALLOW_DEFAULT=allow, or build with --allow NAME"
)


class Policy:
    """The policy of a server.  `names`: the allowed names, None for none; `allows_everything`: all are allowed."""

    def __init__(self, listed: str, default: str, built: Sequence[str]) -> None:
        self.is_pattern = False
        if listed:
            self.names: frozenset[str] | None = frozenset(listed.replace(",", " ").split())
        elif default in ("allow", "all"):
            self.names = frozenset(EVERYTHING)
        elif not default and built:
            self.names, self.is_pattern = frozenset(built), True
        else:
            self.names = None
        self.allows_everything = self.names is not None and not self.names.isdisjoint(EVERYTHING)

    def refusal(self, name: str) -> str:
        """Return why a tool may not be called, nothing if it may."""
        if self.names is None:
            return DENIED.replace("{name}", name)
        if self.allows_everything or name in self.names:
            return ""
        if self.is_pattern and any(matches(pattern, name) for pattern in self.names):
            return ""
        return NOT_LISTED.replace("{name}", name)
