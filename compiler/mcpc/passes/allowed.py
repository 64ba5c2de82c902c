"""Ask whether anybody will be able to call the tools of mcp-bash, of which none may be called that nobody allowed.

The environment of the server may still allow them, and a project's own policy decides call by call: this is no fault,
but who starts such a server for the first time should not have to wonder at an empty list.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.ir import Foreign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Server

CONTRACT = "mcp_bash"
EVERYTHING = ("*", "all")


def allowed(server: Server) -> Diagnostics:
    """Report that no tool is allowed yet, and patterns that allow none."""
    settings = dict(server.settings).get(CONTRACT)
    names = [
        tool.name for tool in server.tools if isinstance(tool.handler, Foreign) and tool.handler.contract == CONTRACT
    ]
    if settings is None or not names:
        return ()
    if not settings["allow"] and not settings["policy"]:
        message = f"clients will see none of the tools of mcp-bash ({_some(names)}), for nothing allows them yet"
        hint = "build with `--allow '*'` or `--allow NAME`, or start the server with MCPBASH_TOOL_ALLOWLIST set"
        return (diagnose("MCP712", None, message, "", hint),)
    return tuple(
        diagnose("MCP265", None, f"`--allow {pattern}` allows no tool", f"a pattern for some of {_some(names)}")
        for pattern in settings["allow"]
        if pattern not in EVERYTHING and not any(_matches(pattern, name) for name in names)
    )


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"`{name}`" for name in names[:3]) + more
