"""The SDK's errors by their names in FastMCP."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.standins.mcp_types.definitions import selected_definitions

NAMES = {"sdk1": "McpError", "sdk2": "MCPError"}


def error_arguments(code: int, message: str) -> tuple[Any, ...]:
    """Return what the selected SDK's error is made of."""
    if selected().sdk == "sdk2":
        return (code, message)
    return (selected_definitions().find("ErrorData")(code=code, message=message),)


def __getattr__(name: str) -> Any:
    """Return the error of the selected SDK, whatever it is called."""
    if name not in NAMES.values():
        raise AttributeError(name)
    return resolve(f"mcpc_runtime.systems.fastmcp.standins.mcp.parts.exceptions:{NAMES[selected().sdk]}")
