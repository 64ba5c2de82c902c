"""Check that some tool of mcp-bash can be called: a tool is hidden unless it is allowed.

The environment of the server may still allow tools, and a project's policy decides call by call, so that this is only a
note; it explains an empty list at the first start of such a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import quoted
from mcpc.model.ir import ExternalHandler
from mcpc_runtime.protocol.tool_choice import matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Server
    from mcpc.model.ir.handlers import PlainData

CONTRACT = "mcp_bash"
EVERYTHING = ("*", "all")


def allowed_tools(server: Server) -> Diagnostics:
    """Report that no tool is allowed yet, and patterns that allow no tool."""
    settings = dict(server.runtime_settings).get(CONTRACT)
    patterns = _patterns(settings.get("allow")) if settings is not None else ()
    names = [
        tool.name
        for tool in server.tools
        if isinstance(tool.handler, ExternalHandler) and tool.handler.contract == CONTRACT
    ]
    if settings is None or not names:
        return ()
    if not patterns and not settings["policy"]:
        message = f"clients will not see the tools of mcp-bash ({_first_names(names)}): they are not allowed yet"
        hint = "build with `--allow '*'` or `--allow NAME`, or start the server with MCPBASH_TOOL_ALLOWLIST set"
        return (diagnose("MCP712", None, message, "", hint),)
    return tuple(
        diagnose("MCP265", None, f"`--allow {pattern}` allows no tool", f"a pattern for some of {_first_names(names)}")
        for pattern in patterns
        if pattern not in EVERYTHING and not any(matches(pattern, name) for name in names)
    )


def _patterns(allowed: PlainData) -> tuple[str, ...]:
    return tuple(map(str, allowed)) if isinstance(allowed, list | tuple) else ()


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return quoted(names[:3]) + more
