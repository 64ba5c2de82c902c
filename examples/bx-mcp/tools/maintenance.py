"""Tools that change something: `readonly` tokens neither see nor call them."""

from mcpc import mcp_tool


@mcp_tool(description="Takes parts out of stock")
def stock_take(part: str, count: int) -> str:
    return f"took {count} of {part}"


@mcp_tool
def debug_dump() -> str:
    """Everything there is; `excludedTools` leaves it out of the server."""
    return "everything"
