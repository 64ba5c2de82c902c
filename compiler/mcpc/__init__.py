"""mcpc compiles Model Context Protocol servers: definitions in, one executable file out."""

from __future__ import annotations

import sys
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
DISTRIBUTION = "mcp-compiler"
"""The name on PyPI, where `mcpc` is another project."""
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


def __dir__() -> list[str]:
    """Return the public names, which are imported when they are asked for."""
    return sorted({*globals(), *__all__})


def _told_at_exit() -> None:
    """Have a person who runs a file of a project by itself told how it is served, once; importing it says nothing."""
    global _is_told
    if not _is_told:
        _is_told = True
        import_module("atexit").register(_tell, getattr(sys.modules.get("__main__"), "__file__", ""))


_is_told = False


def _tell(file: str) -> None:
    """Say how a file is served, if it was run itself and marks functions; Python forgets its name before this."""
    authoring = sys.modules.get("mcpc_runtime.authoring")
    main = vars(sys.modules["__main__"]) if authoring and "__main__" in sys.modules else {}
    kinds = (authoring.Server,) if authoring else ()
    if file and any(isinstance(one, kinds) or hasattr(one, "__mcpc__") for one in main.values()):
        sys.stderr.write(f"{file} defines a server and does not serve: `mcpc run` in its folder does\n")


def __getattr__(name: str) -> object:
    """Return what a project's own files import from here; the compiler itself never asks."""
    if name in __all__:
        _told_at_exit()
        return getattr(import_module("mcpc_runtime.authoring"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
