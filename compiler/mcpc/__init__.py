"""mcpc compiles Model Context Protocol servers: definitions in, one executable file out."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.authoring import (
        Cancelled,
        Context,
        Field,
        ProtocolError,
        Server,
        ToolError,
        completion,
        elicitation,
        mcp_prompt,
        mcp_resource,
        mcp_tool,
        prompt,
        resource,
        roots,
        sampling,
        tool,
    )

__version__ = "0.1.0"
__all__ = [
    "Cancelled",
    "Context",
    "Field",
    "ProtocolError",
    "Server",
    "ToolError",
    "__version__",
    "call_tool_handler",
    "completion",
    "elicitation",
    "mcp_prompt",
    "mcp_resource",
    "mcp_tool",
    "prompt",
    "resource",
    "roots",
    "sampling",
    "tool",
]


def __getattr__(name: str) -> object:
    """Return what a project's own files import from here; the compiler itself never asks."""
    if name in __all__:
        return getattr(import_module("mcpc_runtime.authoring"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
