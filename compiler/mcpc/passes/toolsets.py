"""Check that every pattern of a toolset matches a tool: who chooses the toolset would miss what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import did_you_mean
from mcpc_runtime.protocol.globs import matches

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Server


def check_toolsets(server: Server) -> Diagnostics:
    """Report patterns that match no tool, unless only the running program knows its tools."""
    if server.run_time is not None and "tools" in server.run_time.kinds:
        return ()
    names = [tool.name for tool in server.tools]
    return tuple(
        diagnose(
            "MCP162",
            span,
            f"no tool matches `{pattern}` of the toolset `{toolset.name}`",
            "",
            did_you_mean(pattern, names),
        )
        for toolset in server.toolsets
        for pattern, span in toolset.patterns
        if not any(matches(pattern, name) for name in names)
    )
