"""Start-up of mcp-bash servers: hide the tools that the policy denies, and log how to allow them.

A project's own policy script decides each call, so with one nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.systems.mcp_bash.remote_token import install_token_check
from mcpc_runtime.systems.mcp_bash.settings import NOTHING_ALLOWED, settings_of

TOKEN_VARIABLE = "MCPBASH_REMOTE_TOKEN"
NO_KNOWN_TOOL = "no tool is allowed to be called: MCPBASH_TOOL_ALLOWLIST matches none (only a single * allows all): "


class ToolVisibility:
    """Decides whether a tool is listed; `nothing`: no tool is."""

    def __init__(self, image: Image) -> None:
        settings = settings_of(image)
        self._policy = settings.policy
        self._others = settings.built.get("others", ())
        self.nothing = self._policy.names is None and not self._others

    def __call__(self, name: str) -> bool:
        """Tell whether a tool is listed; the tools of other systems are not subject to the policy."""
        return name in self._others or (self._policy.names is not None and not self._policy.refusal(name))


def hide_tools(image: Image) -> None:
    """List only allowed tools, and log if there are none."""
    settings = settings_of(image)
    if settings.text(TOKEN_VARIABLE):
        install_token_check(image)
    if settings.built.get("policy") or settings.policy.allows_everything:
        return
    image.shows_tool = ToolVisibility(image)
    if settings.policy.names is None:
        log_line(NOTHING_ALLOWED)
    elif not settings.policy.is_pattern:
        log_unknown_tools(image, settings.policy.names)


def log_unknown_tools(image: Image, names: Iterable[str]) -> None:
    """Log if no item of the allowlist is a tool's name."""
    if not any(image.any_tool(name) is not None for name in names):
        log_line(f"{NO_KNOWN_TOOL}{' '.join(sorted(names))}")


def hidden_tools_note(image: Image, names: Sequence[str]) -> str:
    """Return a note about the tools that are hidden from clients, or an empty string."""
    settings = settings_of(image)
    if settings.built.get("policy") or settings.policy.allows_everything:
        return ""
    if settings.policy.names is None:
        return f"note: clients do not see any of these tools: {NOTHING_ALLOWED}\n"
    visibility = ToolVisibility(image)
    unseen = [name for name in names if not visibility(name)]
    return f"note: hidden from clients because not allowed: {', '.join(unseen)}\n" if unseen else ""
