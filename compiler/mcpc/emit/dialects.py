"""How a server words its refusals: MCP's own way, or exactly as a system its clients were written for.

A situation that a dialect leaves out is answered as MCP says: rejected arguments are then a tool's result, which the
model can read and act on, and not a protocol error.
"""

REJECTED = "Invalid params: tool arguments do not match inputSchema"

REFUSALS: dict[str, dict[str, str]] = {
    "mcp": {
        "tool_name_missing": "Invalid params: `name` must be a string",
        "tool_name_malformed": "Unknown tool: {name}",
        "tool_unknown": "Unknown tool: {name}",
        "tool_arguments_not_object": "Invalid params: `arguments` must be an object",
    },
    "mcbox": {
        "tool_name_missing": "Invalid params: tool call parameters missing required 'name' property",
        "tool_name_malformed": "Invalid params: tool name is malformed",
        "tool_unknown": "Invalid params: tool not found",
        "tool_arguments_not_object": REJECTED,
        "tool_arguments_rejected": REJECTED,
    },
}
LENIENT_CURSORS = frozenset({"mcbox"})
"""Dialects in which a cursor that was never given out means the first page."""
