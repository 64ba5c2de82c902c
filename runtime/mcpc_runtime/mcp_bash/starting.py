"""What a server of mcp-bash does before it serves: it hides the tools that nobody may call, and says how to allow them.

A project with a policy of its own decides call by call, so that nothing can be hidden.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.mcp_bash.policy import NOTHING_ALLOWED
from mcpc_runtime.mcp_bash.settings import settings_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from mcpc_runtime.errors import tell
    from mcpc_runtime.remote_token import guard
else:
    guard = lazy("mcpc_runtime.remote_token:guard")
    tell = lazy("mcpc_runtime.errors:tell")

TOKEN = "MCPBASH_REMOTE_TOKEN"
STRANGERS = "no tool may be called, for MCPBASH_TOOL_ALLOWLIST names none (only * alone stands for all): "


class Shown:
    """Tells of each tool whether a list shows it; `nothing`: of none, without asking."""

    def __init__(self, image: Any) -> None:
        settings = settings_of(image)
        self._policy = settings.policy
        self._others = settings.said.get("others", ())
        self.nothing = self._policy.words is None and not self._others

    def __call__(self, name: str) -> bool:
        """Tell it of one; the tools of other systems in the same server are under no policy."""
        return name in self._others or (self._policy.words is not None and not self._policy.refusal(name))


def start(image: Any) -> None:
    """Have lists show what may be called, and say so if that is nothing."""
    settings = settings_of(image)
    if settings.text(TOKEN):
        guard(image)
    if settings.said.get("policy") or settings.policy.allows_everything:
        return
    image.shown = Shown(image)
    if settings.policy.words is None:
        tell(NOTHING_ALLOWED)
    elif not settings.policy.is_pattern:
        tell_of_strangers(image, settings.policy.words)


def tell_of_strangers(image: Any, words: Iterable[str]) -> None:
    """Say so if no word of a list is a tool's name; one that is ends the search."""
    if not any(image.tool(word) is not None for word in words):
        tell(f"{STRANGERS}{' '.join(sorted(words))}")


def hidden(image: Any, names: Sequence[str]) -> str:
    """Return what a person is told of the tools that clients are not shown, nothing if they see all."""
    settings = settings_of(image)
    if settings.said.get("policy") or settings.policy.allows_everything:
        return ""
    if settings.policy.words is None:
        return f"note: clients see no tool of these: {NOTHING_ALLOWED}\n"
    shown = Shown(image)
    unseen = [name for name in names if not shown(name)]
    return f"note: clients do not see, for they are not allowed: {', '.join(unseen)}\n" if unseen else ""
